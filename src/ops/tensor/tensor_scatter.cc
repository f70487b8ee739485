// SPDX-License-Identifier: Apache-2.0
// TensorScatter: writes an update into a cache along its sequence axis, from a place of each batch entry's
// own.
#include "ops/common/checks.h"
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::tensor_scatter {

static Status infer(Infer& i) {
  i.out(0) = i.in(0);
  if (!i.rank_known(0) || !i.rank_known(1)) return {};
  if (i.rank(0) != i.rank(1)) return i.fail("the cache has rank {}, the update {}", i.rank(0), i.rank(1));
  SX_ASSIGN(const size_t axis, i.axis(i.integer("axis"), i.rank(0)));
  if (axis == 0) return i.fail("axis 0 is the batch, not the sequence");
  SX_TRY(require_dims(i, 2, Shape({i.dim(0, 0)}), "write_indices"));
  for (size_t k = 0; k < i.rank(0); ++k) {
    if (k == axis) continue;
    SX_TRY(i.require_equal(i.dim(0, k), i.dim(1, k), sx::format("axis {} of cache and update", k)));
  }
  return {};
}

static Status eval(Eval& e) {
  const Tensor &cache = e.in(0), &update = e.in(1);
  SX_ASSIGN(const size_t axis, e.axis(e.integer("axis"), cache.rank()));
  const std::string mode = e.text("mode");
  if (mode != "linear" && mode != "circular") return e.fail("mode '{}' is neither linear nor circular", mode);
  const std::span<const int64_t> dims = cache.dims();
  const int64_t length = dims[axis], steps = update.dims()[axis], inner = product(dims.subspan(axis + 1));
  const int64_t batches = dims[0], rows = product(dims.first(axis));
  const Reader<int64_t> start(e.has(2) ? e.in(2) : Tensor());
  copy_all(cache, e.out(0));
  StopCheck<16 * 1024> stop;
  for (int64_t r = 0; r < rows && !stop(); ++r) {
    const int64_t first = e.has(2) ? start[size_t(r / (rows / batches))] : 0;
    if (first < 0 || first > INT64_MAX - steps)
      return e.fail("write index {} lies outside of {}", first, length);
    for (int64_t k = 0; k < steps && !stop(size_t(inner) + 1); ++k) {
      const int64_t at = mode == "circular" && length > 0 ? (first + k) % length : first + k;
      if (at < 0 || at >= length)
        return e.fail("write index {} and step {} lie outside of {}", first, k, length);
      move_run(update, (r * steps + k) * inner, e.out(0), (r * length + at) * inner, inner);
    }
  }
  return {};
}

extern const Op op = {
    .name = "TensorScatter",
    .in = {{"past_cache", "T"}, {"update", "T"}, {"write_indices", "tensor(int64)", kOptional}},
    .out = {{"present_cache", "T"}},
    .types = {{"T", kAll24}},
    .attrs = {attr_int("axis", -2), attr_text("mode", "linear")},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 24}},
};

}  // namespace sx::ops::tensor_scatter
