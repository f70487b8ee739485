// SPDX-License-Identifier: Apache-2.0
// What the operators that move and reshape share: axes, exact division of sizes, strides of views.
#pragma once
#include <span>
#include <vector>

#include "graph/infer.h"
#include "graph/op.h"
#include "ops/engine/codec.h"

namespace sx::ops {

using sx::to_string;
inline std::string to_string(const std::vector<Dim>& dims) {
  return sx::to_string(std::span<const Dim>(dims));
}

Dim product_of(std::span<const Dim> dims);
// q · b == a as polynomials. False where no such polynomial is found.
bool exact_quotient(Dim a, Dim b, Dim& q);
// The size that makes the product of `out` times it equal to the product of `in`: common factors cancel, so
// that [n, s, 12, 64] as [n, s, -1] is 768 for every n and s.
Result<Dim> remaining_size(Infer& i, std::vector<Dim> in, std::vector<Dim> out);

// Axes as given by an attribute or an input, made positive; errors name a bad or repeated one.
Result<std::vector<size_t>> normal_axes(std::span<const int64_t> axes, size_t rank);

// The same elements under other dims, as a view of strided memory: false where that takes a copy.
bool reshape_view(const ViewArgs& args, size_t output, ViewMap& map);

// Where an index may be negative to count from the end.
inline bool normal_index(int64_t& index, int64_t size) {
  if (index < 0) index += size;
  return index >= 0 && index < size;
}

// One part of an axis, as Slice says it: starts, length and step, clamped like numpy's.
struct Part {
  int64_t start = 0, length = 0, step = 1;
};
Part part_of(int64_t size, int64_t start, int64_t end, int64_t step);

}  // namespace sx::ops
