// SPDX-License-Identifier: Apache-2.0
// ScatterElements: each update goes to the place along one axis that the index beside it names.
#include "ops/engine/move.h"
#include "ops/tensor/scatter_reduce.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::scatter_elements {

static Status infer(Infer& i) {
  if (i.rank_known(0)) SX_TRY(i.axis(i.integer("axis"), i.rank(0)));
  if (i.rank_known(0) && i.rank_known(1) && i.rank(0) != i.rank(1)) {
    return i.fail("data has rank {}, indices have rank {}", i.rank(0), i.rank(1));
  }
  if (i.rank_known(1) && i.rank_known(2)) {
    if (i.rank(1) != i.rank(2))
      return i.fail("indices have rank {}, updates have rank {}", i.rank(1), i.rank(2));
    for (size_t k = 0; k < i.rank(1); ++k) {
      SX_TRY(i.require_equal(i.dim(1, k), i.dim(2, k), sx::format("axis {} of indices and updates", k)));
    }
  }
  i.out(0) = i.in(0);
  return {};
}

static Status eval(Eval& e) {
  const Tensor &data = e.in(0), &updates = e.in(2);
  SX_ASSIGN(const size_t axis, e.axis(e.integer("axis"), data.rank()));
  const Reader<int64_t> indices(e.in(1));
  const Dims strides = contiguous_strides(data.dims());
  Odometer where(updates.dims());
  return scatter(e, data, updates, updates.count(), 1, [&](int64_t k) {
    int64_t index = indices[size_t(k)], at = 0;
    bool inside = normal_index(index, data.dims()[axis]);
    for (size_t a = 0; a < strides.size(); ++a) {
      const int64_t place = a == axis ? index : where.at()[a];
      inside = inside && place < data.dims()[a];
      if (inside) at += place * strides[a];
    }
    where.next();
    return inside ? at : -1;
  });
}

extern const Op op = {
    .name = "ScatterElements",
    .in = {{"data", "T"}, {"indices", "Tind"}, {"updates", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kAll13}, {"Tind", kIndices}},
    .attrs = {attr_int("axis", 0), attr_text("reduction", "none")},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 18},
                {.since = 16},
                {.since = 13, .attrs = {{attr_int("axis", 0)}}},
                {.since = 11, .types = {{"T", kOldAll}}}},
};

}  // namespace sx::ops::scatter_elements
