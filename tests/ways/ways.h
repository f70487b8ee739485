// SPDX-License-Identifier: Apache-2.0
// Every way of running a model: provider, vector level, offered layout, threads, rules. A program that links
// this has further providers: offer0, offer1 … are cpu, held to one of the layouts that it offers each node.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "runtime/session.h"

namespace sx::testing {

struct Way {
  std::string name;  // "cpu avx2 2 threads, no rules"
  Isa isa = Isa::baseline;
  SessionOptions options;
};

// All of them on this machine. A plugin that is not there is an error.
Result<std::vector<Way>> all_ways();

// Runs of a table that are known to fail: lines `FILE; WAY; TITLE; reason`. WAY is a part of the way's name,
// TITLE how the case begins; both may be empty. Of the runs that a line speaks of at least one must fail.
class KnownFailures {
 public:
  static Result<KnownFailures> read(const std::string& path);
  bool expected(const std::string& file, const std::string& title, const std::string& way);  // it did fail
  std::vector<std::string> needless() const;  // lines of which nothing failed

 private:
  struct Line {
    std::string text, file, way, title, reason;
    bool needed = false;
    bool fits(const std::string& run_file, const std::string& run_title, const std::string& run_way) const;
  };
  std::vector<Line> lines_;
};

struct NamedRuns {
  size_t count;
  std::function<std::string(size_t)> run, name;
};

// Calls run(0) … run(count - 1) in another process, which is started again after a run that ends it. The
// answers, empty where all is well. Under the address sanitizer all of them run here: one that ends the
// process is named beside the sanitizer's report, and leaks are looked for when the test ends, because the
// sanitizer's search may fail in a process that was forked.
std::vector<std::string> run_apart(const NamedRuns& runs);

// Sanitizers take ten times as long: SX_WAYS_SHARE=8 takes every eighth run, others for each case.
bool in_share(size_t number_of_case, size_t number_of_run);

}  // namespace sx::testing
