// SPDX-License-Identifier: Apache-2.0
#include "base/cancel.h"

#include <time.h>

#include "base/format.h"

namespace sx {
namespace {

constexpr std::chrono::milliseconds kPollEvery(20);

// The coarse clock costs a few nanoseconds, which every chunk can pay, and is some milliseconds late.
Cancel::Clock::time_point coarse_now() {
#ifdef CLOCK_MONOTONIC_COARSE
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return Cancel::Clock::time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
#else
  return Cancel::Clock::now();
#endif
}

}  // namespace

void Cancel::set_timeout(std::chrono::nanoseconds timeout) {
  const auto now = Clock::now();
  deadline_ = timeout < Clock::time_point::max() - now ? now + timeout : Clock::time_point::max();
}

Status Cancel::set_timeout_seconds(double seconds) {
  if (!(seconds >= 0)) {
    return error(Code::invalid_argument, "a timeout of {} seconds; expected 0, for none, or more", seconds);
  }
  if (seconds > 0 && seconds < 9e9) set_timeout(std::chrono::nanoseconds(int64_t(seconds * 1e9)));
  return {};
}

void Cancel::set_poll(Poll poll, void* context) {
  poll_ = poll;
  poll_context_ = context;
  poll_thread_ = std::this_thread::get_id();
  next_poll_ = coarse_now() + kPollEvery;
}

bool Cancel::look() const {
  const auto now = coarse_now();
  if (deadline_ && now >= *deadline_) expired_.store(true, std::memory_order_relaxed);
  if (poll_ && poll_thread_ == std::this_thread::get_id() && now >= next_poll_) {
    next_poll_ = now + kPollEvery;
    if (poll_(poll_context_)) requested_.store(true, std::memory_order_relaxed);
  }
  return requested_.load(std::memory_order_relaxed) || expired_.load(std::memory_order_relaxed);
}

Status Cancel::check() const {
  if (deadline_ && Clock::now() >= *deadline_) expired_.store(true, std::memory_order_relaxed);
  if (poll_) look();
  if (requested_.load(std::memory_order_relaxed)) return Status(Code::cancelled, "the run was cancelled");
  if (expired_.load(std::memory_order_relaxed)) return Status(Code::deadline, "the run passed its deadline");
  return parent_ ? parent_->check() : Status();
}

}  // namespace sx
