// SPDX-License-Identifier: Apache-2.0
// Walk: several strided operands over one index space, its axes merged where all of them allow it.
#pragma once
#include <vector>

#include "tensor/dims.h"

namespace sx {

struct Walk {
  Dims dims;
  std::vector<Dims> strides;  // one an operand

  // Drops axes of size 1 and merges neighbours that every operand steps through evenly. At least one axis
  // remains.
  void simplify();
  int64_t inner() const { return dims.back(); }
  // On to the next row: `at` is the index along the outer axes, `offsets` where each operand stands.
  void step(Dims& at, std::vector<int64_t>& offsets) const;
};

// Strides of a contiguous operand of `dims` broadcast to `out`: 0 along the axes it does not have.
// False if it does not fit.
bool broadcast_strides(std::span<const int64_t> dims, std::span<const int64_t> out, Dims& strides);

}  // namespace sx
