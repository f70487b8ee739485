// SPDX-License-Identifier: Apache-2.0
// GatherElements: each output element takes its place along one axis from the index that stands there.
#include "base/task.h"
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::gather_elements {

static Status infer(Infer& i) {
  if (i.rank_known(0)) SX_TRY(i.axis(i.integer("axis"), i.rank(0)));
  if (i.rank_known(0) && i.rank_known(1) && i.rank(0) != i.rank(1)) {
    return i.fail("data has rank {}, indices have rank {}", i.rank(0), i.rank(1));
  }
  i.set_tensor(0, i.elem(0), i.in(1).shape);
  return {};
}

static Status eval(Eval& e) {
  const Tensor &x = e.in(0), &indices = e.in(1);
  SX_ASSIGN(const size_t axis, e.axis(e.integer("axis"), x.rank()));
  const Reader<int64_t> at(indices);
  const Dims strides = contiguous_strides(x.dims());
  Odometer where(indices.dims());
  StopCheck<> stop;
  for (size_t k = 0; k < at.size() && !stop(); ++k, where.next()) {
    int64_t index = at[k], from = 0;
    if (!normal_index(index, x.dims()[axis])) {
      return e.fail("index {} is out of range for axis {} of {}", at[k], axis, to_string(x.dims()));
    }
    for (size_t a = 0; a < strides.size(); ++a) {
      const int64_t place = a == axis ? index : where.at()[a];
      if (place >= x.dims()[a])
        return e.fail("indices {} exceed the data {}", to_string(indices.dims()), to_string(x.dims()));
      from += place * strides[a];
    }
    move_one(x, from, e.out(0), int64_t(k));
  }
  return {};
}

extern const Op op = {
    .name = "GatherElements",
    .in = {{"data", "T"}, {"indices", "Tind"}},
    .out = {{"output", "T"}},
    .types = {{"T", kAll13}, {"Tind", kIndices}},
    .attrs = {attr_int("axis", 0)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 13}, {.since = 11, .types = {{"T", kOldAll}}}},
};

}  // namespace sx::ops::gather_elements
