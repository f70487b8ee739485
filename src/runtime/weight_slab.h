// SPDX-License-Identifier: Apache-2.0
// Packed weights side by side in large slabs: a model of many small weights would otherwise meet a page fault
// for each four kilobytes, which takes longer than packing them. A slab goes when the last of its buffers
// goes.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>

#include "tensor/buffer.h"

namespace sx {

class WeightSlab;

// Huge pages are asked for as long as they cost less time than small ones would: a virtual machine may have
// to ask its host for them, and small ones are at hand.
class HugePages {
 public:
  bool enter(uint8_t* page);  // the first touch; false: no more of them
  bool pay() const;

 private:
  std::chrono::nanoseconds spent_{0};
  int entered_ = 0;
};

class WeightSlabs {
 public:
  // As Buffer::allocate. One thread at a time.
  Result<std::shared_ptr<Buffer>> allocate(size_t bytes);

 private:
  std::weak_ptr<WeightSlab> open_;
  bool first_ = true;
  HugePages huge_pages_;
};

}  // namespace sx
