// SPDX-License-Identifier: Apache-2.0
// OneHot: a new axis that is `on` at the index and `off` elsewhere.
#include "base/task.h"
#include "ops/common/checks.h"
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::one_hot {

static Result<size_t> place(int64_t axis, size_t rank) {
  int64_t at = axis;
  if (!normal_index(at, int64_t(rank) + 1)) {
    return error(Code::invalid_model, "axis {} is out of range for indices of rank {}", axis, rank);
  }
  return size_t(at);
}

static Status infer(Infer& i) {
  SX_TRY(require_one(i, 1, "depth"));
  SX_TRY(require_dims(i, 2, Shape({2}), "values"));
  if (!i.rank_known(0)) {
    i.set_unknown_shape(0, i.elem(2));
    return {};
  }
  std::vector<Dim> dims = i.dims(0);
  SX_ASSIGN(const size_t axis, place(i.integer("axis"), dims.size()));
  Dim depth;
  if (const Tensor* t = i.constant(1); t && t->count() == 1) {
    depth = number_at<int64_t>(*t);
    if (depth.constant() < 0) return i.fail("depth is {}", depth.constant());
  } else {
    const auto* e = i.elements(1);
    depth = e && e->size() == 1 ? (*e)[0] : i.fresh();
  }
  dims.insert(dims.begin() + int64_t(axis), depth);
  i.set_tensor(0, i.elem(2), Shape(std::move(dims)));
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(const size_t axis, place(e.integer("axis"), e.in(0).rank()));
  const Reader<int64_t> indices(e.in(0));
  const int64_t depth = number_at<int64_t>(e.in(1));
  const int64_t inner = product(std::span<const int64_t>(e.in(0).dims()).subspan(axis));
  fill(e.out(0), e.in(2), 0);
  StopCheck<> stop;
  for (size_t k = 0; k < indices.size() && !stop(); ++k) {
    int64_t index = indices[k];
    if (!normal_index(index, depth)) continue;
    const int64_t outer = int64_t(k) / inner, within = int64_t(k) % inner;
    move_one(e.in(2), 1, e.out(0), (outer * depth + index) * inner + within);
  }
  return {};
}

extern const Op op = {
    .name = "OneHot",
    .in = {{"indices", "T1"}, {"depth", "T2"}, {"values", "T3"}},
    .out = {{"output", "T3"}},
    .types = {{"T1", kOldNumbers}, {"T2", kOldNumbers}, {"T3", kAll13}},
    .attrs = {attr_int("axis", -1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 28}, {.since = 11, .types = {{"T3", kOldAll}}}, {.since = 9}},
};

}  // namespace sx::ops::one_hot
