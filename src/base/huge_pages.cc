// SPDX-License-Identifier: Apache-2.0
#include "base/huge_pages.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "base/memory.h"
#include "base/stop.h"

namespace sx {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

// What huge pages have cost this process more than small ones would have, lately. Several threads may lose an
// addition to each other, which does no harm.
class Loss {
 public:
  bool bearable() {
    if (nanoseconds(lost_.load(std::memory_order_relaxed)) < kMost) return true;
    const Clock::duration since = Clock::now().time_since_epoch() - Clock::duration(at_.load());
    if (since < kForgiven) return false;
    lost_.store(0, std::memory_order_relaxed);
    return true;
  }
  void add(nanoseconds cost) {
    const nanoseconds lost = nanoseconds(lost_.load(std::memory_order_relaxed)) + cost - kSmallPages;
    lost_.store(std::max(lost, -kMost).count(), std::memory_order_relaxed);
    if (lost >= kMost) at_.store(Clock::now().time_since_epoch().count());
  }

 private:
  static constexpr nanoseconds kSmallPages = std::chrono::microseconds(800);  // for as much memory
  static constexpr nanoseconds kMost = std::chrono::milliseconds(2);
  static constexpr Clock::duration kForgiven = std::chrono::seconds(1);
  std::atomic<int64_t> lost_{0}, at_{0};
};

Loss& loss() {
  static Loss one;
  return one;
}

}  // namespace

FreshPages::FreshPages(void* memory, size_t bytes)
    : memory_(static_cast<uint8_t*>(memory)),
      bytes_(memory ? bytes / kHugePage * kHugePage : 0),
      huge_(bytes_ > 0 && loss().bearable()) {
  if (huge_) use_huge_pages(memory_, bytes_);
}

void FreshPages::take(size_t end) {
  while (huge_ && next_ < std::min(end, bytes_) && !stop_requested()) {
    const auto start = Clock::now();
    *static_cast<volatile uint8_t*>(memory_ + next_) = 0;
    loss().add(Clock::now() - start);
    next_ += kHugePage;
    huge_ = loss().bearable();
    if (!huge_) use_small_pages(memory_ + next_, bytes_ - next_);
  }
}

namespace {

size_t alignment_of(size_t bytes) { return bytes < kHugePage ? kVectorAlignment : kHugePage; }

}  // namespace

void* allocate_fresh(size_t bytes) {
  void* memory = allocate_memory(bytes, alignment_of(bytes));
  FreshPages(memory, bytes).take(bytes);
  return memory;
}

void free_fresh(void* memory, size_t bytes) { free_memory(memory, alignment_of(bytes)); }

}  // namespace sx
