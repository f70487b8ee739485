// SPDX-License-Identifier: Apache-2.0
#include "ways.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/format.h"
#include "providers.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define SX_ADDRESS_SANITIZER 1
#endif
#endif

namespace sx {
namespace {

constexpr size_t kMostOffers = 3;

// The cpu provider, which gets no choice among its layouts.
class OneOffer final : public Provider {
 public:
  explicit OneOffer(size_t number) : name_(format("offer{}", number)), number_(number) {}
  std::string_view name() const override { return name_; }
  Claim claim(const Graph& graph, NodeId node) const override { return cpu_->claim(graph, node); }
  std::vector<LayoutOffer> layouts(const Graph& graph, NodeId node) const override {
    std::vector<LayoutOffer> all = cpu_->layouts(graph, node);
    if (all.empty()) return all;
    return {all[number_ % all.size()]};
  }
  bool can_fuse(const Graph& graph, std::span<const NodeId> members, NodeId next,
                std::string* why_not) const override {
    return cpu_->can_fuse(graph, members, next, why_not);
  }
  Result<std::unique_ptr<Kernel>> compile(CompileContext& context) override { return cpu_->compile(context); }
  Result<std::unique_ptr<Kernel>> compile_reorder(DType type, const Layout& from, const Layout& to) override {
    return cpu_->compile_reorder(type, from, to);
  }
  uint32_t layout_owner() const override { return cpu_->layout_owner(); }
  size_t own_bytes(DType type, const Layout& layout, std::span<const int64_t> dims) const override {
    return cpu_->own_bytes(type, layout, dims);
  }
  MemorySpace* memory() override { return cpu_->memory(); }

 private:
  std::string name_;
  size_t number_;
  std::unique_ptr<Provider> cpu_ = cpu::make();
};

}  // namespace

std::vector<std::unique_ptr<Provider>> builtin_providers() {
  std::vector<std::unique_ptr<Provider>> list;
  list.push_back(cpu::make());
  for (size_t k = 0; k < kMostOffers; ++k) list.push_back(std::make_unique<OneOffer>(k));
  list.push_back(reference::make());
  return list;
}

namespace testing {

Result<std::vector<Way>> all_ways() {
  std::vector<Way> ways;
  auto add = [&](Isa isa, std::vector<std::string> providers, std::vector<std::string> plugins = {}) {
    for (unsigned threads : {1u, 2u}) {
      for (bool rules : {true, false}) {
        Way& way = ways.emplace_back();
        way.name = format("{} {} {} thread{}{}", providers[0], isa_name(isa), threads,
                          threads == 1 ? "" : "s", rules ? "" : ", no rules");
        way.isa = isa;
        way.options.providers = providers;
        way.options.plugins = plugins;
        way.options.threads = threads;
        way.options.rules = rules;
      }
    }
  };
  const Isa best = active_isa();
  for (const char* plugin : {SX_TOY, SX_LOOPBACK}) {
    if (!std::filesystem::exists(plugin)) return error(Code::not_found, "there is no plugin {}", plugin);
  }
  for (int level = 0; level <= int(best); ++level) {
    add(Isa(level), {"cpu"});
    for (size_t k = 0; k < kMostOffers; ++k) add(Isa(level), {format("offer{}", k)});
  }
  add(best, {"reference"});
  add(best, {"loopback"}, {SX_LOOPBACK});
  add(best, {"toy", "cpu"}, {SX_TOY});
  return ways;
}

Result<KnownFailures> KnownFailures::read(const std::string& path) {
  std::ifstream in(path);
  if (!in) return error(Code::io, "cannot read {}", path);
  KnownFailures known;
  for (std::string text; std::getline(in, text);) {
    if (text.empty() || text.front() == '#') continue;
    Line line;
    line.text = text;
    std::string* parts[] = {&line.file, &line.way, &line.title, &line.reason};
    size_t at = 0;
    for (std::string* part : parts) {
      const size_t end = part == &line.reason ? text.npos : text.find("; ", at);
      if (at > text.size()) return error(Code::invalid_argument, "{}: '{}' has no four parts", path, text);
      *part = text.substr(at, end - at);
      at = end == text.npos ? text.size() + 1 : end + 2;
    }
    known.lines_.push_back(std::move(line));
  }
  return known;
}

bool KnownFailures::Line::fits(const std::string& run_file, const std::string& run_title,
                               const std::string& run_way) const {
  return run_file.ends_with("/" + file) && run_title.starts_with(title) && run_way.find(way) != way.npos;
}

bool KnownFailures::expected(const std::string& file, const std::string& title, const std::string& way) {
  bool found = false;
  for (Line& line : lines_) {
    if (!line.fits(file, title, way)) continue;
    line.needed = true;
    found = true;
  }
  return found;
}

std::vector<std::string> KnownFailures::needless() const {
  std::vector<std::string> lines;
  for (const Line& line : lines_) {
    if (!line.needed) lines.push_back(line.text);
  }
  return lines;
}

#if defined(SX_ADDRESS_SANITIZER)

namespace {

const NamedRuns* under_way = nullptr;
size_t number_under_way = 0;

void say_what_was_under_way() {
  if (under_way) std::fprintf(stderr, "in %s\n", under_way->name(number_under_way).c_str());
}

}  // namespace

std::vector<std::string> run_apart(const NamedRuns& runs) {
  __sanitizer_set_death_callback(say_what_was_under_way);
  under_way = &runs;
  std::vector<std::string> answers;
  for (size_t k = 0; k < runs.count; ++k) {
    number_under_way = k;
    answers.push_back(runs.run(k));
  }
  under_way = nullptr;
  return answers;
}

#else

namespace {

[[noreturn]] void answer_runs(size_t first, const NamedRuns& runs, int pipe_end) {
  FILE* out = fdopen(pipe_end, "w");
  for (size_t k = first; k < runs.count; ++k) {
    std::string answer = runs.run(k);
    std::replace(answer.begin(), answer.end(), '\n', ' ');
    std::fprintf(out, "%s\n", answer.c_str());
    std::fflush(out);
  }
  std::exit(0);
}

// What became of a process that answered too little.
std::string end_of(int status) {
  return WIFSIGNALED(status) ? format("ended by signal {}", WTERMSIG(status))
                             : format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace

std::vector<std::string> run_apart(const NamedRuns& runs) {
  std::vector<std::string> answers;
  while (answers.size() < runs.count) {
    int ends[2];
    if (pipe(ends) != 0) return {"no pipe"};
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      for (int signal : {SIGSEGV, SIGFPE, SIGABRT, SIGILL, SIGBUS}) std::signal(signal, SIG_DFL);
      answer_runs(answers.size(), runs, ends[1]);
    }
    close(ends[1]);
    FILE* in = fdopen(ends[0], "r");
    std::string line;
    for (int c; (c = std::fgetc(in)) != EOF;) {
      if (c != '\n') {
        line += char(c);
        continue;
      }
      answers.push_back(std::exchange(line, {}));
    }
    std::fclose(in);
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0 && answers.size() < runs.count)
      answers.push_back(end_of(status));
    else if (status != 0)
      answers.back() += " " + end_of(status);
  }
  return answers;
}

#endif

bool in_share(size_t number_of_case, size_t number_of_run) {
  static const size_t share = [] {
    const char* text = std::getenv("SX_WAYS_SHARE");
    return text ? std::max(1, std::atoi(text)) : 1;
  }();
  return (number_of_case + number_of_run) % share == 0;
}

}  // namespace testing
}  // namespace sx
