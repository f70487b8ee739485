// SPDX-License-Identifier: Apache-2.0
#include "session_flags.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/cpu.h"
#include "base/format.h"
#include "progress.h"
#include "signals.h"

namespace sx::tools {

namespace {

constexpr const char* kLevels[] = {"debug", "info", "warn", "error"};

void say(void*, LogLevel level, std::string_view message) {
  const std::string text = escaped(message);
  const char* over_progress = ::isatty(2) ? "\r\x1b[K" : "";
  std::fprintf(stderr, "%s%s: %s\n", over_progress, level < LogLevel::off ? kLevels[int(level)] : "log",
               text.c_str());
}

// What SARDONYX_LOG asks to be told; without it what a user should know.
Result<Log> log_from_environment(bool quiet) {
  const char* wanted = std::getenv("SARDONYX_LOG");
  if (!wanted || !*wanted) return Log{.sink = say, .least = quiet ? LogLevel::error : LogLevel::warn};
  for (size_t i = 0; i < std::size(kLevels); ++i) {
    if (std::string_view(wanted) == kLevels[i]) return Log{.sink = say, .least = LogLevel(i)};
  }
  return error(Code::invalid_argument, "SARDONYX_LOG={}: expected error, warn, info or debug", wanted);
}

Result<unsigned> threads_from_environment() {
  const char* wanted = std::getenv("SARDONYX_THREADS");
  if (!wanted || !*wanted) return 0u;
  char* end = nullptr;
  const unsigned long n = std::strtoul(wanted, &end, 10);
  if (*end == 0 && *wanted != '-')
    return unsigned(std::min<unsigned long>(n, std::numeric_limits<unsigned>::max()));
  return error(Code::invalid_argument, "SARDONYX_THREADS={}: expected a number of threads", wanted);
}

}  // namespace

void SessionFlags::add(Options& o, bool with_model) {
  if (with_model) o.argument("MODEL", model, "an ONNX model").is(Takes::model);
  o.value("--provider", "NAME", providers, "who runs it, best first: cpu, reference, or one from a plugin");
  o.value("--plugin", "FILE", plugins, "a shared library that adds providers").is(Takes::file);
  o.value("--dim", "NAME=N", dims, "fix a named dimension, as in --dim batch=4");
  o.value("--isa", "LEVEL", isa, "highest vector level").one_of({"baseline", "avx2", "avx512"});
  o.value("--memory", "SIZE", memory, "most memory to hold, as in 500M, 2G or 80%");
  o.flag("--no-rules", no_rules, "run the graph as it is written");
  o.flag("--allow-newer", allow_newer, "take models of an opset that is not known yet, or of none");
  o.flag("--strict-names", strict_names, "dimensions of one name must be of one size");
}

Result<SessionOptions> SessionFlags::options(const Common& common) const {
  SessionOptions o;
  SX_ASSIGN(const unsigned otherwise, threads_from_environment());
  o.threads = common.threads > 0 ? common.threads : otherwise;
  SX_ASSIGN(o.log, log_from_environment(common.quiet));
  o.rules = !no_rules;
  o.allow_newer = allow_newer;
  o.strict_names = strict_names;
  o.providers = providers;
  o.plugins = plugins;
  SX_ASSIGN(o.dims, parse_dims(dims));
  if (!memory.empty()) {
    auto limit = parse_memory(memory);
    if (!limit.ok()) return std::move(limit).status().in("--memory");
    o.memory_limit = *limit;
  }
  if (!isa.empty()) {
    Isa level{};
    if (!parse_isa(isa, level))
      return error(Code::invalid_argument, "--isa {}: expected baseline, avx2 or avx512", isa);
    if (level > detected_isa()) {
      return error(Code::unsupported, "--isa {}: this processor has {}", isa, isa_name(detected_isa()));
    }
    set_active_isa(level);
  }
  return o;
}

Result<std::unique_ptr<Session>> SessionFlags::load(const SessionOptions& options, Terminal& out) const {
  const Busy busy(out, "loading " + escaped(model));
  const LeaveAtOnce leave;
  return Session::load(model, options);
}

void InputFlags::add(Options& o) {
  o.value("--input", "NAME=FILE", source.named, "an input from a .npy, .npz or .pb file")
      .is(Takes::named_file);
  o.value("--inputs", "FILE.npz", source.archive, "one array for each input").is(Takes::file);
  o.flag("--random", source.random, "random values for inputs that are not given");
  o.value("--seed", "N", source.seed, "where the random values begin");
}

}  // namespace sx::tools
