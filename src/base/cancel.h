// SPDX-License-Identifier: Apache-2.0
// Cancel: a flag and a deadline that long work looks at between steps. Chained: a child stops with its parent.
#pragma once
#include <atomic>
#include <chrono>
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
  // Looks at the flag and, if one is set, at the clock.
  Status check() const;

 private:
  const Cancel* parent_ = nullptr;
  std::atomic<bool> requested_{false};
  std::optional<Clock::time_point> deadline_;
};

}  // namespace sx
