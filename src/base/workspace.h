// SPDX-License-Identifier: Apache-2.0
// Workspace: a vector whose memory is taken from the current task's account, for working memory as large as
// tensors are; its numbers are undefined until they are written. Where the account has none it throws
// MemoryRefused, which contained() makes an error.
#pragma once
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/contained.h"
#include "base/task.h"

namespace sx {

template <class T>
class BudgetAllocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  BudgetAllocator() : memory_(current_task().memory ? current_task().memory->shared_from_this() : nullptr) {}
  template <class U>
  BudgetAllocator(const BudgetAllocator<U>& other) : memory_(other.memory()) {}

  T* allocate(size_t n) {
    if (n > SIZE_MAX / 2 / sizeof(T)) throw MemoryRefused(SIZE_MAX);
    const size_t bytes = n * sizeof(T);
    const bool fits = memory_ ? memory_->take(bytes, current_task().memory_limit) : bytes <= machine_memory();
    if (!fits) throw MemoryRefused(bytes);
    try {
      return std::allocator<T>().allocate(n);
    } catch (...) {
      if (memory_) memory_->give(bytes);
      throw;
    }
  }
  void deallocate(T* p, size_t n) {
    std::allocator<T>().deallocate(p, n);
    if (memory_) memory_->give(n * sizeof(T));
  }
  // Numbers that are given no value get none: nobody can stop a gigabyte that is being filled with zeros.
  template <class U>
  void construct(U* p) {
    if constexpr (!std::is_trivially_copyable_v<U>) ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
  const std::shared_ptr<MemoryBudget>& memory() const { return memory_; }
  template <class U>
  bool operator==(const BudgetAllocator<U>& other) const {
    return memory_ == other.memory();
  }

 private:
  std::shared_ptr<MemoryBudget> memory_;
};

template <class T>
using Workspace = std::vector<T, BudgetAllocator<T>>;

}  // namespace sx
