// SPDX-License-Identifier: Apache-2.0
// Packed weights side by side in large slabs: a model of many small weights would otherwise meet a page fault
// for each four kilobytes, which takes longer than packing them. A slab goes when the last of its buffers
// goes.
#pragma once
#include <cstdint>
#include <memory>

#include "tensor/buffer.h"

namespace sx {

class WeightSlab;

class WeightSlabs {
 public:
  // As Buffer::allocate. One thread at a time.
  Result<std::shared_ptr<Buffer>> allocate(size_t bytes);

 private:
  std::weak_ptr<WeightSlab> open_;
  bool first_ = true;
};

}  // namespace sx
