// SPDX-License-Identifier: Apache-2.0
// IdleSlots: a few objects that wait to be used again. Threads take and give them back without a lock; what
// finds no free slot is destroyed.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

namespace sx {

template <class T, size_t kSlots = 16>
class IdleSlots {
 public:
  IdleSlots() = default;
  ~IdleSlots() { clear(); }
  IdleSlots(const IdleSlots&) = delete;
  IdleSlots& operator=(const IdleSlots&) = delete;

  std::unique_ptr<T> take() {
    for (std::atomic<T*>& slot : slots_) {
      if (!slot.load(std::memory_order_relaxed)) continue;
      if (T* found = slot.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<T>(found);
    }
    return nullptr;
  }
  void give(std::unique_ptr<T> object) {
    for (std::atomic<T*>& slot : slots_) {
      T* empty = nullptr;
      if (!slot.compare_exchange_strong(empty, object.get(), std::memory_order_release,
                                        std::memory_order_relaxed))
        continue;
      (void)object.release();
      return;
    }
  }
  void clear() {
    while (take()) {
    }
  }

 private:
  std::array<std::atomic<T*>, kSlots> slots_{};
};

}  // namespace sx
