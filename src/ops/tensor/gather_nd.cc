// SPDX-License-Identifier: Apache-2.0
// GatherND: the last axis of indices names a place in data; what lies below it is the result.
#include "base/task.h"
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::gather_nd {

static Status infer(Infer& i) {
  if (i.rank_known(1) && i.rank(1) == 0) return i.fail("indices are a scalar, at least one axis expected");
  if (!i.rank_known(0) || !i.rank_known(1) || !i.dims(1).back().is_constant()) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  const int64_t depth = i.dims(1).back().constant(), batch = i.integer("batch_dims");
  if (batch < 0 || batch >= int64_t(i.rank(1)) || depth < 1 || batch + depth > int64_t(i.rank(0))) {
    return i.fail("indices {} with batch_dims {} do not fit the data {}", to_string(i.dims(1)), batch,
                  to_string(i.dims(0)));
  }
  for (int64_t k = 0; k < batch; ++k) {
    SX_TRY(i.require_equal(i.dim(0, size_t(k)), i.dim(1, size_t(k)), sx::format("batch axis {}", k)));
  }
  std::vector<Dim> dims(i.dims(1).begin(), i.dims(1).end() - 1);
  dims.insert(dims.end(), i.dims(0).begin() + batch + depth, i.dims(0).end());
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  const size_t batch = size_t(e.integer("batch_dims")), depth = size_t(e.in(1).dims().back());
  const std::span<const int64_t> dims = x.dims();
  const Dims strides = contiguous_strides(dims);
  const int64_t below = product(dims.subspan(batch + depth));
  const int64_t batches = product(dims.first(batch)), block = product(dims.subspan(batch));
  const Reader<int64_t> indices(e.in(1));
  const size_t rows = depth ? indices.size() / depth : 0;
  const size_t rows_each = batches > 0 ? rows / size_t(batches) : 0;
  StopCheck<16 * 1024> stop;
  for (size_t r = 0; r < rows && !stop(size_t(below) + 1); ++r) {
    int64_t from = int64_t(r / rows_each) * block;
    for (size_t a = 0; a < depth; ++a) {
      int64_t index = indices[r * depth + a];
      if (!normal_index(index, dims[batch + a])) {
        return e.fail("index {} is out of range for axis {} of {}", indices[r * depth + a], batch + a,
                      to_string(dims));
      }
      from += index * strides[batch + a];
    }
    move_run(x, from, e.out(0), int64_t(r) * below, below);
  }
  return {};
}

extern const Op op = {
    .name = "GatherND",
    .in = {{"data", "T"}, {"indices", "tensor(int64)"}},
    .out = {{"output", "T"}},
    .types = {{"T", kAll13}},
    .attrs = {attr_int("batch_dims", 0)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 12, .types = {{"T", kOldAll}}},
                {.since = 11, .attrs = std::vector<AttrDef>()}},
};

}  // namespace sx::ops::gather_nd
