// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

#include "base/huge_pages.h"

namespace sx {
namespace {

void advise(void* memory, size_t bytes, uintptr_t page, int advice) {
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(memory) + page - 1) / page * page;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + bytes) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

}  // namespace

void* allocate_memory(size_t bytes, size_t alignment) {
  return ::operator new (bytes, std::align_val_t{alignment}, std::nothrow);
}
void free_memory(void* memory, size_t alignment) { ::operator delete (memory, std::align_val_t{alignment}); }

void return_pages(void* memory, size_t bytes) {
  static const auto page = uintptr_t(::sysconf(_SC_PAGESIZE));
  advise(memory, bytes, page, MADV_DONTNEED);
}

void use_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#if defined(MADV_HUGEPAGE)
  advise(memory, bytes, kHugePage, MADV_HUGEPAGE);
#endif
}

void use_small_pages([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#if defined(MADV_NOHUGEPAGE)
  advise(memory, bytes, kHugePage, MADV_NOHUGEPAGE);
#endif
}

}  // namespace sx
