// SPDX-License-Identifier: Apache-2.0
// ScatterND: the last axis of indices names a place in data, where a piece of updates goes.
#include "ops/tensor/scatter_reduce.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::scatter_nd {

static Status infer(Infer& i) {
  if (i.rank_known(1) && i.rank(1) == 0) return i.fail("indices are a scalar, at least one axis expected");
  i.out(0) = i.in(0);
  if (!i.rank_known(0) || !i.rank_known(1) || !i.dims(1).back().is_constant()) return {};
  const int64_t depth = i.dims(1).back().constant();
  if (depth < 0 || depth > int64_t(i.rank(0))) {
    return i.fail("indices {} do not fit the data {}", to_string(i.dims(1)), to_string(i.dims(0)));
  }
  std::vector<Dim> dims(i.dims(1).begin(), i.dims(1).end() - 1);
  dims.insert(dims.end(), i.dims(0).begin() + depth, i.dims(0).end());
  if (!i.rank_known(2)) return {};
  if (i.rank(2) != dims.size()) {
    return i.fail("updates are {}, {} is expected", to_string(i.dims(2)), to_string(dims));
  }
  for (size_t k = 0; k < dims.size(); ++k) {
    SX_TRY(i.require_equal(i.dim(2, k), dims[k], sx::format("axis {} of updates", k)));
  }
  return {};
}

static Status eval(Eval& e) {
  const Tensor &data = e.in(0), &updates = e.in(2);
  const std::span<const int64_t> dims = data.dims();
  const size_t depth = size_t(e.in(1).dims().back());
  const Reader<int64_t> indices(e.in(1));
  const Dims strides = contiguous_strides(dims);
  const int64_t run = product(dims.subspan(depth));
  const int64_t runs = product(std::span<const int64_t>(e.in(1).dims()).first(e.in(1).rank() - 1));
  return scatter(e, data, updates, runs, run, [&](int64_t k) {
    int64_t at = 0;
    bool inside = true;
    for (size_t a = 0; a < depth; ++a) {
      int64_t index = indices[size_t(k) * depth + a];
      inside = inside && normal_index(index, dims[a]);
      if (inside) at += index * strides[a];
    }
    return inside ? at : -1;
  });
}

extern const Op op = {
    .name = "ScatterND",
    .in = {{"data", "T"}, {"indices", "tensor(int64)"}, {"updates", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kAll13}},
    .attrs = {attr_text("reduction", "none")},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 18},
                {.since = 16},
                {.since = 13, .attrs = std::vector<AttrDef>()},
                {.since = 11, .types = {{"T", kOldAll}}}},
};

}  // namespace sx::ops::scatter_nd
