// SPDX-License-Identifier: Apache-2.0
#include "base/cancel.h"

#include <time.h>

namespace sx {
namespace {

constexpr int64_t kPollMs = 20;

// The coarse clock costs a few nanoseconds, which every step can pay.
int64_t coarse_ms() {
#ifdef CLOCK_MONOTONIC_COARSE
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return int64_t(t.tv_sec) * 1000 + t.tv_nsec / 1000000;
#else
  return std::chrono::duration_cast<std::chrono::milliseconds>(Cancel::Clock::now().time_since_epoch())
      .count();
#endif
}

}  // namespace

void Cancel::set_poll(Poll poll, void* context) {
  poll_ = poll;
  poll_context_ = context;
  next_poll_.store(coarse_ms() + kPollMs, std::memory_order_relaxed);
}

bool Cancel::poll_now() const {
  const int64_t now = coarse_ms();
  int64_t due = next_poll_.load(std::memory_order_relaxed);
  if (now < due || !next_poll_.compare_exchange_strong(due, now + kPollMs, std::memory_order_relaxed))
    return false;
  if (poll_(poll_context_)) requested_.store(true, std::memory_order_relaxed);
  return requested_.load(std::memory_order_relaxed);
}

Status Cancel::check() const {
  if (requested_.load(std::memory_order_relaxed) || (poll_ && poll_now())) {
    return Status(Code::cancelled, "the run was cancelled");
  }
  if (deadline_ && Clock::now() >= *deadline_) {
    return Status(Code::deadline, "the run passed its deadline");
  }
  return parent_ ? parent_->check() : Status();
}

}  // namespace sx
