// SPDX-License-Identifier: Apache-2.0
// Fresh memory on huge pages, as long as they cost less time than small ones would: a virtual machine may
// have to ask its host for them, and small ones are at hand. See docs/decisions/0017-where-weights-lie.md.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sx {

constexpr size_t kHugePage = size_t{2} << 20;

// A range of memory that begins where a huge page may, and whose pages come as it is taken from the front.
class FreshPages {
 public:
  FreshPages(void* memory, size_t bytes);
  // Each huge page before `end` is touched, and that is timed; once they have cost too much, the rest of the
  // range gets small ones when it is used.
  void take(size_t end);

 private:
  uint8_t* memory_;
  size_t bytes_, next_ = 0;
  bool huge_;
};

// Memory that will be written at once. What is as large as a huge page begins where one may, and is touched.
void* allocate_fresh(size_t bytes);  // null: there is none
void free_fresh(void* memory, size_t bytes);

}  // namespace sx
