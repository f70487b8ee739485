// SPDX-License-Identifier: Apache-2.0
// Tile: repeats a tensor along each axis.
#include "graph/lift.h"
#include "ops/common/checks.h"
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::tile {

static Status infer(Infer& i) {
  SX_TRY(require_rank(i, 1, 1, "repeats"));
  const auto* repeats = i.elements(1);
  if (!i.rank_known(0) || !repeats) {
    if (i.rank_known(0))
      i.set_ranked(0, i.elem(0), i.rank(0));
    else
      i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  if (repeats->size() != i.rank(0)) {
    return i.fail("there are {} repeats, the input has rank {}", repeats->size(), i.rank(0));
  }
  std::vector<Dim> dims;
  for (size_t k = 0; k < repeats->size(); ++k) {
    if ((*repeats)[k].is_constant() && (*repeats)[k].constant() < 0) return i.fail("repeats are negative");
    dims.push_back(i.dim(0, k) * (*repeats)[k]);
  }
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

// Each axis is two: the copies, which do not move in the input, and the elements.
static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  const Dims strides = contiguous_strides(x.dims()), out_strides = contiguous_strides(e.out(0).dims());
  Dims dims, from, to;
  for (size_t k = 0; k < x.rank(); ++k) {
    const int64_t size = x.dims()[k];
    dims.push_back(size > 0 ? e.out(0).dims()[k] / size : 0);
    from.push_back(0);
    to.push_back(out_strides[k] * size);
    dims.push_back(size);
    from.push_back(strides[k]);
    to.push_back(out_strides[k]);
  }
  move_strided(x, 0, from, e.out(0), 0, to, dims);
  return {};
}

static Status lift_one_axis(Lift& l) {
  const Tensor *tiles = l.constant(1), *axis = l.constant(2);
  if (!tiles || !axis || tiles->count() != 1 || axis->count() != 1 || !l.type(0).shape.known) {
    return l.fail("Tile-1 whose tiles and axis are not constant, or whose input has no known rank");
  }
  std::vector<int64_t> repeats(l.type(0).shape.rank(), 1);
  int64_t at = number_at<int64_t>(*axis);
  if (!normal_index(at, int64_t(repeats.size())))
    return l.fail("Tile-1 along axis {} of rank {}", at, repeats.size());
  repeats[size_t(at)] = number_at<int64_t>(*tiles);
  const ValueId counts = l.ints(std::span<const int64_t>(repeats));
  l.graph().set_inputs(l.id(), {l.in(0), counts});
  return {};
}

extern const Op op = {
    .name = "Tile",
    .in = {{"input", "T"}, {"repeats", "T1"}},
    .out = {{"output", "T"}},
    .types = {{"T", kAll13}, {"T1", DTypeSet::of(DType::i64)}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 6, .types = {{"T", kOldAll}}},
                {.since = 1,
                 .types = {{"T", kOldFloats}},
                 .in = {{{"input", "T"}, {"tiles", "T"}, {"axis", "T"}}},
                 .lift = lift_one_axis}},
};

}  // namespace sx::ops::tile
