// SPDX-License-Identifier: Apache-2.0
// Expand: broadcasts a tensor with a shape, in both directions.
#include "ops/common/checks.h"
#include "ops/engine/move.h"
#include "ops/engine/walk.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::expand {

static Status infer(Infer& i) {
  SX_TRY(require_rank(i, 1, 1, "shape"));
  const auto* wanted = i.elements(1);
  if (wanted) SX_TRY(require_sizes(i, *wanted, "shape"));
  if (!wanted) {
    if (i.rank_known(0) && i.rank_known(1) && i.rank(1) == 1 && i.dim(1, 0).is_constant()) {
      i.set_ranked(0, i.elem(0), std::max(i.rank(0), size_t(i.dim(1, 0).constant())));
    } else {
      i.set_unknown_shape(0, i.elem(0));
    }
    return {};
  }
  SX_ASSIGN(Shape shape, i.broadcast(i.in(0).shape, Shape(*wanted), "the input and the shape"));
  const auto* e = i.elements(0);
  if (e && shape.known && shape.rank() <= 1 && shape.is_constant()) {
    const size_t n = shape.rank() == 0 ? 1 : size_t(shape.dims[0].constant());
    if (e->size() == 1 && n <= Infer::kMostElements)
      i.set_elements(0, std::vector<Dim>(n, (*e)[0]));
    else if (e->size() == n)
      i.set_elements(0, *e);
  }
  i.set_tensor(0, i.elem(0), std::move(shape));
  return {};
}

static Status eval(Eval& e) {
  Tensor& out = e.out(0);
  Dims strides;
  if (!broadcast_strides(e.in(0).dims(), out.dims(), strides)) {
    return e.fail("{} does not broadcast to {}", to_string(e.in(0).dims()), to_string(out.dims()));
  }
  move_strided(e.in(0), 0, strides, out, 0, contiguous_strides(out.dims()), out.dims());
  return {};
}

static bool view(const ViewArgs& args, size_t, ViewMap& map) {
  if (args.dims.size() > args.out_dims.size()) return false;
  map.offset = 0;
  map.strides = Dims(args.out_dims.size(), 0);
  const size_t shift = args.out_dims.size() - args.dims.size();
  for (size_t k = 0; k < args.dims.size(); ++k) {
    if (args.dims[k] != 1) map.strides[k + shift] = args.strides[k];
  }
  return true;
}

extern const Op op = {
    .name = "Expand",
    .in = {{"input", "T"}, {"shape", "tensor(int64)"}},
    .out = {{"output", "T"}},
    .types = {{"T", kAll13}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 13}, {.since = 8, .types = {{"T", kOldAll}}}},
    .view = view,
};

}  // namespace sx::ops::expand
