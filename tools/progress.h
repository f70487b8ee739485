// SPDX-License-Identifier: Apache-2.0
// Busy: while it lives and takes long, a line on the terminal says what is being done; nothing in a pipe.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "terminal.h"

namespace sx::tools {

class Busy {
 public:
  // `bytes`: how much will be written, if that is known; then the line tells how far it is.
  Busy(Terminal& out, const std::string& what, uint64_t bytes = 0);
  ~Busy();
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;  // null where nobody would see it
};

}  // namespace sx::tools
