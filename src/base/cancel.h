// SPDX-License-Identifier: Apache-2.0
// Cancel: a flag and a deadline that long work looks at between steps. Chained: a child stops with its
// parent.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/result.h"

namespace sx {

class Cancel {
 public:
  using Clock = std::chrono::steady_clock;
  Cancel() = default;
  explicit Cancel(const Cancel* parent) : parent_(parent) {}

  void request() { requested_.store(true, std::memory_order_relaxed); }
  void set_deadline(Clock::time_point when) { deadline_ = when; }
  void set_timeout(std::chrono::nanoseconds timeout) { deadline_ = Clock::now() + timeout; }

  bool requested() const {
    return requested_.load(std::memory_order_relaxed) || (parent_ && parent_->requested());
  }
  // check() asks `poll` about every 20 ms, on the thread that checks; true stops the work. For a door that
  // has something of its own to look at, as Python has its signals.
  using Poll = bool (*)(void* context);
  void set_poll(Poll poll, void* context);

  // Looks at the flag and, if one is set, at the clock.
  Status check() const;

 private:
  bool poll_now() const;

  const Cancel* parent_ = nullptr;
  mutable std::atomic<bool> requested_{false};
  Poll poll_ = nullptr;
  void* poll_context_ = nullptr;
  mutable std::atomic<int64_t> next_poll_{0};
  std::optional<Clock::time_point> deadline_;
};

}  // namespace sx
