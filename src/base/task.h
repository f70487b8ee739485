// SPDX-License-Identifier: Apache-2.0
// Task: on whose behalf this thread works: the account that its memory is taken from, and who may stop it.
// The runtime sets it around loading, planning and running; a thread pool carries it to its workers. So a
// loop or an allocation deep inside an operator need not be handed it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/cancel.h"
#include "base/memory_budget.h"

namespace sx {

struct Task {
  MemoryBudget* memory = nullptr;  // null: nothing is counted, but no piece may be larger than the machine's
  size_t memory_limit = SIZE_MAX;  // of this task; the budget's own holds too
  const Cancel* cancel = nullptr;
};

const Task& current_task();

// While it lives, this thread works on `task`.
class TaskScope {
 public:
  explicit TaskScope(const Task& task);
  ~TaskScope();
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  Task before_;
};

// Asks the current task's account before memory is allocated. The error says what `what` wanted, what is in
// use and the limit.
Result<MemoryCharge> charge_memory(size_t bytes, std::string_view what = {});
Status memory_refused(size_t bytes, std::string_view what);
size_t memory_limit();  // of the current task; without an account the machine's
// For what was counted only once it was there: an error if the limit is passed.
Status check_memory();

// Notices a refusal that was answered with an empty tensor instead of an error. The innermost one on a thread
// sees it.
class RefusalWatch {
 public:
  RefusalWatch();
  ~RefusalWatch();
  RefusalWatch(const RefusalWatch&) = delete;
  RefusalWatch& operator=(const RefusalWatch&) = delete;
  const Status& seen() const { return seen_; }

 private:
  friend Status memory_refused(size_t bytes, std::string_view what);
  RefusalWatch* outer_;
  Status seen_;
};

struct TaskStopped {};

// Whether somebody asked this thread's work to end. Once true it stays true, so a loop may simply leave with
// its work half done: whoever started it asks check_stop() before using the result.
bool stop_requested();
Status check_stop();

// For loops of short turns: looks every `Turns` of them, and says true for ever after the first time.
//   StopCheck<> stop;
//   for (size_t k = 0; k < n && !stop(); ++k) ...
template <uint32_t Turns = 4096>
class StopCheck {
 public:
  bool operator()() { return ++turn_ >= Turns && look(); }
  // A turn that is worth `turns` short ones.
  bool operator()(size_t turns) {
    turn_ = turns < Turns - turn_ ? turn_ + uint32_t(turns) : Turns;
    return turn_ >= Turns && look();
  }
  // For the comparison of a sort, which has no other way out; contained() makes it the error of check_stop().
  void leave() {
    if ((*this)()) throw TaskStopped();
  }

 private:
  bool look() {
    const bool stop = stop_requested();
    turn_ = stop ? Turns - 1 : 0;
    return stop;
  }
  uint32_t turn_ = 0;
};

}  // namespace sx
