// SPDX-License-Identifier: Apache-2.0
// Flatten: a matrix; the axes before `axis` become rows, the others columns.
#include "ops/tensor/shapes.h"

namespace sx::ops::flatten {

static Status infer(Infer& i) {
  if (!i.rank_known(0)) {
    i.set_ranked(0, i.elem(0), 2);
    return {};
  }
  const int64_t rank = int64_t(i.rank(0)), axis = i.integer("axis");
  if (axis < -rank || axis > rank) return i.fail("axis {} is out of range for rank {}", axis, rank);
  const std::span<const Dim> dims = i.dims(0);
  const size_t at = size_t(axis < 0 ? axis + rank : axis);
  i.set_tensor(0, i.elem(0), Shape({product_of(dims.first(at)), product_of(dims.subspan(at))}));
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(Tensor t, e.in(0).reshaped(e.out(0).dims()));
  e.set(0, Value(std::move(t)));
  return {};
}

extern const Op op = {
    .name = "Flatten",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kAll25}},
    .attrs = {attr_int("axis", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 25},
                {.since = 24, .types = {{"T", kAll24}}},
                {.since = 23, .types = {{"T", kAll23}}},
                {.since = 21, .types = {{"T", kAll21}}},
                {.since = 13, .types = {{"T", kAll13}}},
                {.since = 11, .types = {{"T", kOldAll}}},
                {.since = 9},
                {.since = 1, .types = {{"T", kOldFloats}}}},
    .view = reshape_view,
    .view_keeps_order = true,
};

}  // namespace sx::ops::flatten
