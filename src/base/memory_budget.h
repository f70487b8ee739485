// SPDX-License-Identifier: Apache-2.0
// MemoryBudget: how much memory a session may hold and holds. What is taken comes back when it is released,
// also after the session is gone: whoever holds memory holds its account.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sx {

// Somebody who keeps memory for later and can do without it.
class MemoryKeeper {
 public:
  virtual void release_kept() = 0;

 protected:
  ~MemoryKeeper() = default;
};

class MemoryBudget : public std::enable_shared_from_this<MemoryBudget> {
 public:
  explicit MemoryBudget(size_t limit) : limit_(limit) {}

  // False, and nothing is taken, where `used` would pass the smaller of `limit` and the budget's own, even
  // after the keepers gave back what they could. No lock is taken where it fits.
  bool take(size_t bytes, size_t limit = SIZE_MAX);
  // For what can only be counted once it is there; the next take() sees it.
  void add(size_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void give(size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  size_t used() const { return used_.load(std::memory_order_relaxed); }
  size_t limit() const { return limit_; }

  void join(MemoryKeeper* keeper);
  void leave(MemoryKeeper* keeper);

 private:
  bool fits(size_t bytes, size_t limit);

  const size_t limit_;
  std::atomic<size_t> used_{0};
  std::mutex mutex_;
  std::vector<MemoryKeeper*> keepers_;
};

// What was taken from a budget, given back at the end.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  MemoryCharge(std::shared_ptr<MemoryBudget> budget, size_t bytes)
      : budget_(std::move(budget)), bytes_(bytes) {}
  MemoryCharge(MemoryCharge&& other) noexcept
      : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryCharge() {
    if (budget_) budget_->give(bytes_);
  }
  void add(size_t bytes) {
    if (!budget_) return;
    budget_->add(bytes);
    bytes_ += bytes;
  }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  size_t bytes_ = 0;
};

// What this process may use: the machine's memory or its control groups' limit, whichever is less.
size_t machine_memory();

std::string bytes_text(size_t bytes);  // "12 MB", "4.0 TB"
// "500M", "2G", "1.5 GB", "80%" (of machine_memory()) or a number of bytes; powers of ten as in bytes_text.
Result<size_t> parse_memory(std::string_view text);

}  // namespace sx
