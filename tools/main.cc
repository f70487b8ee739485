// SPDX-License-Identifier: Apache-2.0
// The command-line program: finds the verb, reads its options, runs it, turns its outcome into an exit
// status.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/format.h"
#include "command.h"
#include "onnx/display.h"
#include "pages.h"
#include "signals.h"

#define SX_ITEM(name)              \
  namespace sx::tools::commands {  \
  std::unique_ptr<Command> name(); \
  }
#include "command_list.inc"
#undef SX_ITEM

namespace sx::tools {
namespace {

// What the error says itself, or what a file that is no model makes likely.
std::string advice_for(const Status& status) {
  if (!status.advice().empty() || status.code() != Code::invalid_model) return status.advice();
  const std::string& text = status.message();
  if (!text.starts_with("model at byte ")) return "";
  if (text.find(" its message has ") != std::string::npos)
    return "The file is shorter than it says: was it copied or downloaded whole?";
  return "It is damaged, or not an ONNX model.";
}

void print_error(Terminal& out, const Status& status) {
  out.note(out.paint_error(Style::bad, "error: ") + onnx::shown(status));
  if (const std::string more = advice_for(status); !more.empty()) out.note(more);
}

int unknown_verb(Terminal& out, const std::string& verb, const Commands& commands) {
  std::vector<std::string> names;
  for (const auto& c : commands) names.push_back(c->name);
  struct stat st {};
  if (verb.ends_with(".onnx") || (::stat(verb.c_str(), &st) == 0 && S_ISREG(st.st_mode))) {
    print_error(out, error(Code::invalid_argument, "'{}' is a file; say first what to do with it", verb)
                         .advise(format("As in `sardonyx info {}`; `sardonyx --help` lists the verbs.",
                                        escaped(verb))));
    return kUsage;
  }
  const std::string near = nearest(verb, names);
  print_error(out, error(Code::invalid_argument, "there is no verb '{}'{}", verb,
                         near.empty() ? "" : format("; did you mean '{}'?", near))
                       .advise("`sardonyx --help` lists the verbs."));
  return kUsage;
}

int exit_status(const Outcome& outcome) {
  if (interrupted()) return kInterrupted;
  if (outcome.status.ok() || outcome.exit != kDone) return outcome.exit;
  return kFailed;
}

// A reader that has seen enough, as head, is no error.
bool flush_output(Terminal& out) {
  if ((std::fflush(stdout) == 0 && !std::ferror(stdout)) || errno == EPIPE) return true;
  print_error(out, error(Code::io, "cannot write to standard output: {}", std::strerror(errno)));
  return false;
}

bool asks_for_help(const std::vector<std::string>& words) {
  for (const std::string& w : words) {
    if (w == "--") return false;
    if (w == "--help" || w == "-h") return true;
  }
  return false;
}

int print_version(Terminal& out) {
  out.line(format("sardonyx {}", version()));
  return kDone;
}

int run_verb(Command& command, const std::vector<std::string>& words, Terminal& out) {
  if (words.size() == 1 && words[0] == "--version") return print_version(out);
  if (asks_for_help(words)) {
    out.print(verb_help(command, out));
    return kDone;
  }
  Options options;
  Common common;
  command.options(options);
  common.add(options);
  if (Status s = options.parse(words); !s.ok()) {
    out.choose_color(common.color);
    print_error(out, std::move(s).in(command.name));
    out.note(format("Usage: {}\n`sardonyx {} --help` explains.", usage_line(command, options), command.name));
    return kUsage;
  }
  out.choose_color(common.color);
  out.quiet = common.quiet;
  install_signals(command.polls);
  Status missing = options.check_files();
  const Outcome outcome = missing.ok() ? command.run(common, out) : refuse(std::move(missing));
  out.end_progress();
  if (!outcome.status.ok()) print_error(out, outcome.status);
  if (!flush_output(out) && outcome.exit == kDone && !interrupted()) return kFailed;
  return exit_status(outcome);
}

int run(int argc, char** argv) {
  Terminal out;
  out.choose_color("auto");
  const Commands commands = all_commands();
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words[0] == "help") {  // help VERB is VERB --help
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    out.print(program_help(commands, out));
    return kDone;
  }
  if (words[0] == "--version" || words[0] == "-V") {
    return print_version(out);
  }
  const std::string verb = words[0];
  if (verb.starts_with('-')) {
    print_error(out, error(Code::invalid_argument, "the verb comes first; found the option '{}'", verb)
                         .advise("As in `sardonyx info MODEL.onnx`; `sardonyx --help` lists the verbs."));
    return kUsage;
  }
  words.erase(words.begin());
  for (const auto& c : commands) {
    if (c->name == verb) return run_verb(*c, words, out);
  }
  return unknown_verb(out, verb, commands);
}

}  // namespace

Commands all_commands() {
  Commands list;
#define SX_ITEM(name) list.push_back(commands::name());
#include "command_list.inc"
#undef SX_ITEM
  return list;
}

void Common::add(Options& o) {
  o.flag("--json", json, "one JSON document on standard output");
  o.flag("--quiet", quiet, "only what was asked for");
  o.value("--color", "WHEN", color, "colours").one_of({"auto", "always", "never"});
  o.value("--threads", "N", threads, "threads to use; as many as this process may unless said");
}

Outcome done(int exit) { return {{}, exit}; }
Outcome refuse(Status status) { return {std::move(status), kRefused}; }
Outcome fail(Status status) { return {std::move(status), kFailed}; }

}  // namespace sx::tools

int main(int argc, char** argv) {
  sx::tools::install_signals(false);
  try {
    return sx::tools::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("error: not enough memory\n", stderr);
    return sx::tools::kFailed;
  }
}
