// SPDX-License-Identifier: Apache-2.0
// Cancel: a flag and a deadline that long work looks at between steps and inside long ones. Chained: a child
// stops with its parent.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "base/result.h"

namespace sx {

class Cancel {
 public:
  using Clock = std::chrono::steady_clock;
  Cancel() = default;
  explicit Cancel(const Cancel* parent) : parent_(parent) {}

  void request() { requested_.store(true, std::memory_order_relaxed); }
  void set_deadline(Clock::time_point when) { deadline_ = when; }
  void set_timeout(std::chrono::nanoseconds timeout);
  Status set_timeout_seconds(double seconds);  // as people give it; 0: none

  bool requested() const {
    return requested_.load(std::memory_order_relaxed) || (parent_ && parent_->requested());
  }
  // Asked about every 20 ms, on the thread that set it; true stops the work. For a door that has something of
  // its own to look at, as Python has its signals.
  using Poll = bool (*)(void* context);
  void set_poll(Poll poll, void* context);

  // Looks at the flag and, if there is one, at the deadline; costs some nanoseconds. Once true it stays true,
  // and check() says why.
  bool stopped() const {
    if (requested_.load(std::memory_order_relaxed) || expired_.load(std::memory_order_relaxed)) return true;
    if ((deadline_ || poll_) && look()) return true;
    return parent_ && parent_->stopped();
  }
  Status check() const;

 private:
  bool look() const;

  const Cancel* parent_ = nullptr;
  mutable std::atomic<bool> requested_{false}, expired_{false};
  Poll poll_ = nullptr;
  void* poll_context_ = nullptr;
  std::thread::id poll_thread_;
  mutable Clock::time_point next_poll_;  // only the polling thread looks at it
  std::optional<Clock::time_point> deadline_;
};

}  // namespace sx
