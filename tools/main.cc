// SPDX-License-Identifier: Apache-2.0
// The command-line program: finds the verb, reads its flags, runs it, turns its outcome into an exit status.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <memory>

#include "base/cancel.h"
#include "base/format.h"
#include "command.h"

#define SX_ITEM(name)              \
  namespace sx::tools::commands {  \
  std::unique_ptr<Command> name(); \
  }
#include "command_list.inc"
#undef SX_ITEM

namespace sx::tools {
namespace {

Cancel g_interrupt;
volatile std::sig_atomic_t g_interrupted = 0;

extern "C" void on_interrupt(int) {
  if (g_interrupted) std::_Exit(kInterrupted);  // a second Ctrl-C does not wait for anything
  g_interrupted = 1;
  g_interrupt.request();
}

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> list;
#define SX_ITEM(name) list.push_back(commands::name());
#include "command_list.inc"
#undef SX_ITEM
  return list;
}

void print_error(Terminal& out, const Status& status) {
  std::string text;
  for (auto it = status.context().rbegin(); it != status.context().rend(); ++it) text += escaped(*it) + ": ";
  // Lines of our own making stay lines; everything else that a terminal could obey is escaped.
  std::string_view rest = status.message();
  for (size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
    text += escaped(rest.substr(0, end)) + "\n";
  }
  out.note(out.paint(Style::bad, "error: ") + text + escaped(rest));
  if (!status.advice().empty()) out.note(status.advice());
}

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t up = row[j];
      row[j] = std::min({up + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = up;
    }
  }
  return row[b.size()];
}

int unknown_verb(Terminal& out, const std::string& verb,
                 const std::vector<std::unique_ptr<Command>>& commands) {
  std::string near;
  size_t best = 3;
  for (const auto& c : commands) {
    if (const size_t d = distance(verb, c->name); d < best) {
      best = d;
      near = c->name;
    }
  }
  out.note(format("error: there is no verb '{}'{}", escaped(verb),
                  near.empty() ? "" : format("; did you mean '{}'?", near)));
  out.note("`sardonyx --help` lists the verbs.");
  return kUsage;
}

int exit_status(const Outcome& outcome) {
  if (g_interrupted) return kInterrupted;
  if (outcome.status.ok() || outcome.exit != kDone) return outcome.exit;
  return kFailed;
}

int run(int argc, char** argv) {
  Terminal out;
  Common common;
  CLI::App app("Sardonyx: read, check, show, run and measure ONNX models.", "sardonyx");
  app.set_version_flag("--version", "sardonyx " SX_VERSION);
  app.require_subcommand(0, 1);
  app.footer(
      "Try:  sardonyx demo        (the bundled digit classifier)\n      sardonyx run MODEL.onnx --random\n"
      "      sardonyx VERB --help");
  auto commands = all_commands();
  std::vector<CLI::App*> subs;
  for (auto& c : commands) {
    CLI::App* sub = app.add_subcommand(c->name, c->summary);
    sub->add_flag("--json", common.json, "one JSON document on standard output");
    sub->add_flag("--quiet", common.quiet, "only what was asked for");
    sub->add_option("--color", common.color, "auto, always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    sub->add_option("--threads", common.threads, "threads to use (default: as many as this process may)");
    sub->footer("Example:\n  " + c->example);
    c->options(*sub);
    subs.push_back(sub);
  }
  if (argc > 1 && argv[1][0] != '-') {
    const std::string verb = argv[1];
    if (std::none_of(commands.begin(), commands.end(), [&](auto& c) { return c->name == verb; })) {
      return unknown_verb(out, verb, commands);
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kDone : kUsage;
  }
  for (size_t i = 0; i < commands.size(); ++i) {
    if (!subs[i]->parsed()) continue;
    out.choose_color(common.color);
    out.quiet = common.quiet;
    const Outcome outcome = commands[i]->run(common, out);
    out.end_progress();
    if (!outcome.status.ok()) print_error(out, outcome.status);
    std::fflush(stdout);
    return exit_status(outcome);
  }
  out.print(app.help());
  return kDone;
}

}  // namespace

Outcome done(int exit) { return {{}, exit}; }
Outcome refuse(Status status) { return {std::move(status), kRefused}; }
Outcome fail(Status status) { return {std::move(status), kFailed}; }
bool interrupted() { return g_interrupted != 0; }
const Cancel& interrupt() { return g_interrupt; }

}  // namespace sx::tools

int main(int argc, char** argv) {
  std::signal(SIGINT, sx::tools::on_interrupt);
  std::signal(SIGTERM, sx::tools::on_interrupt);
  std::signal(SIGPIPE, SIG_IGN);
  return sx::tools::run(argc, argv);
}
