// SPDX-License-Identifier: Apache-2.0
// Memory for numbers: aligned for vectors, and on huge pages where it is large and the system has them. A
// page fault costs as much as packing the page, and products of large matrices miss fewer translations.
#pragma once
#include <cstddef>

namespace sx {

void* allocate_memory(size_t bytes);  // null: there is none
void free_memory(void* memory, size_t bytes);

}  // namespace sx
