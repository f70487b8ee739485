// SPDX-License-Identifier: Apache-2.0
// Command: one verb of the command line. cmd_NAME.cc defines commands::NAME(); the build line lists it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "options.h"
#include "terminal.h"

namespace sx::tools {

// The exit statuses that scripts rely on.
enum Exit : int { kDone = 0, kAnswerIsNo = 1, kUsage = 2, kRefused = 3, kFailed = 4, kInterrupted = 130 };

// What every verb understands.
struct Common {
  bool json = false, quiet = false;
  std::string color = "auto";
  unsigned threads = 0;
  void add(Options& options);
};

struct Outcome {
  Status status;     // an error is printed to standard error
  int exit = kDone;  // used when the status is ok, or when it is not kDone
};

// What a verb is for; the list of verbs is in this order.
enum class Group : uint8_t { look, edit, run, shell };

class Command {
 public:
  virtual ~Command() = default;
  virtual void options(Options& options) = 0;  // arguments and flags of this verb
  virtual Outcome run(const Common& common, Terminal& out) = 0;

  std::string name, summary, example;
  Group group = Group::look;
  bool polls = false;  // looks at interrupt() and ends by itself when somebody presses Ctrl-C
};

std::vector<std::unique_ptr<Command>> all_commands();

Outcome done(int exit = kDone);
Outcome refuse(Status status);  // the input cannot be read or is refused
Outcome fail(Status status);    // the run failed

}  // namespace sx::tools
