// SPDX-License-Identifier: Apache-2.0
// Memory for numbers: aligned for vectors, in pages that can go back one by one.
#pragma once
#include <cstddef>

namespace sx {

constexpr size_t kVectorAlignment = 64;
void* allocate_memory(size_t bytes, size_t alignment = kVectorAlignment);  // null: there is none
void free_memory(void* memory, size_t alignment = kVectorAlignment);
// The whole pages of a range whose contents nobody needs, or that a file has.
void return_pages(void* memory, size_t bytes);
// Which pages a range gets, where the system lets a program choose: base/huge_pages.h decides.
void use_huge_pages(void* memory, size_t bytes);
void use_small_pages(void* memory, size_t bytes);

}  // namespace sx
