// SPDX-License-Identifier: Apache-2.0
// Task: on whose behalf this thread works: the account that its memory is taken from, and who may stop it.
// The runtime sets it around loading, planning and running; a thread pool carries it to its workers. So a
// loop or an allocation deep inside an operator need not be handed it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "base/cancel.h"
#include "base/memory_budget.h"
#include "base/stop.h"

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

Status check_stop();  // the error, once stop_requested()

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

// 0 to n - 1, or fewer when somebody asks this thread's work to end. `weight`: what one turn is worth in
// short ones.
//   for (size_t k : turns(n)) ...
template <class I>
class Turns {
 public:
  struct End {};
  class Iterator {
   public:
    Iterator(I n, I piece) : until_(n < piece ? n : piece), n_(n), piece_(piece) {}
    I operator*() const { return at_; }
    void operator++() { ++at_; }
    bool operator!=(End /*end*/) { return at_ < until_ || more(); }

   private:
    bool more() {
      if (at_ >= n_ || stop_requested()) return false;
      until_ = n_ - at_ < piece_ ? n_ : at_ + piece_;
      return true;
    }
    I at_ = 0, until_, n_, piece_;
  };
  Turns(I n, I piece) : n_(n), piece_(piece) {}
  Iterator begin() const { return {n_, piece_}; }
  End end() const { return {}; }

 private:
  I n_, piece_;
};
template <class I>
Turns<I> turns(I n, size_t weight = 1) {
  constexpr size_t kPiece = 16 * 1024;
  return {n, weight < kPiece ? I(kPiece / (weight ? weight : 1)) : I(1)};
}

// The elements of a span or Reader, or fewer.
//   for (float v : stoppable(x)) ...
template <class T>
class Stoppable {
 public:
  class Iterator : public Turns<size_t>::Iterator {
   public:
    Iterator(typename Turns<size_t>::Iterator at, T* data) : Turns<size_t>::Iterator(at), data_(data) {}
    T& operator*() const { return data_[Turns<size_t>::Iterator::operator*()]; }

   private:
    T* data_;
  };
  Stoppable(T* data, size_t n) : data_(data), turns_(turns(n)) {}
  Iterator begin() const { return {turns_.begin(), data_}; }
  typename Turns<size_t>::End end() const { return {}; }

 private:
  T* data_;
  Turns<size_t> turns_;
};
template <class Range>
auto stoppable(Range&& range) {
  return Stoppable<std::remove_pointer_t<decltype(range.data())>>(range.data(), range.size());
}

}  // namespace sx
