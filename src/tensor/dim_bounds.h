// SPDX-License-Identifier: Apache-2.0
// Arithmetic on the bounds of Dims. An end of int64 is infinity on that side.
#pragma once
#include "tensor/dim.h"

namespace sx {

DimBounds add(DimBounds a, DimBounds b);
DimBounds multiply(DimBounds a, DimBounds b);
DimBounds bounds_of(const std::vector<DimTerm>& terms);
DimBounds bounds_of(DimOp op, DimBounds a, DimBounds b);  // of an atom over values within a and b

inline int64_t floor_div(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

// a - floor_div(a, b) * b, which may overflow on the way.
inline int64_t floor_mod(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

}  // namespace sx
