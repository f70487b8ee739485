// SPDX-License-Identifier: Apache-2.0
// What the program does when the world interrupts it: Ctrl-C, a closed pipe, a file that is cut while it is
// mapped. It always ends with an exit status of its own, never by a signal.
#pragma once
#include <csignal>

#include "base/cancel.h"

namespace sx::tools {

// `polls`: the verb looks at interrupt() and ends by itself when Ctrl-C asks it to; a second one does not
// wait. Otherwise the program ends at once: output files appear whole or not at all.
void install_signals(bool polls);

bool interrupted();
const Cancel& interrupt();

// While it lives, Ctrl-C ends the program at once although the verb polls: for work that does not look.
class LeaveAtOnce {
 public:
  LeaveAtOnce();
  ~LeaveAtOnce();
  LeaveAtOnce(const LeaveAtOnce&) = delete;
  LeaveAtOnce& operator=(const LeaveAtOnce&) = delete;

 private:
  bool polled_;
};

// While it lives, Ctrl-C waits: for an edit in place, which is whole only when all of it is done.
class HoldInterrupts {
 public:
  HoldInterrupts();
  ~HoldInterrupts();
  HoldInterrupts(const HoldInterrupts&) = delete;
  HoldInterrupts& operator=(const HoldInterrupts&) = delete;

 private:
  sigset_t before_;
};

}  // namespace sx::tools
