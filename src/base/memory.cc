// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace sx {
namespace {

constexpr size_t kVector = 64, kHugePage = size_t{2} << 20;

std::align_val_t alignment_of(size_t bytes) {
  return std::align_val_t(bytes >= kHugePage ? kHugePage : kVector);
}

}  // namespace

void* allocate_memory(size_t bytes) {
  void* memory = ::operator new(bytes, alignment_of(bytes), std::nothrow);
#if defined(__linux__)
  // Whole pages only: the rest keeps small ones, so nothing is held that was not asked for.
  if (memory && bytes >= kHugePage) ::madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  return memory;
}

void free_memory(void* memory, size_t bytes) { ::operator delete(memory, alignment_of(bytes)); }

}  // namespace sx
