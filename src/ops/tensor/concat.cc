// SPDX-License-Identifier: Apache-2.0
// Concat: tensors side by side along one axis.
#include "graph/lift.h"
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::concat {

static void join_elements(Infer& i) {
  std::vector<Dim> all;
  for (size_t k = 0; k < i.inputs(); ++k) {
    const auto* e = i.elements(k);
    if (!e) return;
    all.insert(all.end(), e->begin(), e->end());
  }
  i.set_elements(0, std::move(all));
}

static Status infer(Infer& i) {
  size_t first = 0;
  while (first < i.inputs() && !i.rank_known(first)) ++first;
  if (first == i.inputs()) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  std::vector<Dim> dims = i.dims(first);
  if (dims.empty()) return i.fail("scalars cannot be concatenated");
  SX_ASSIGN(const size_t axis, i.axis(i.integer("axis"), dims.size()));
  Dim sum = 0;
  for (size_t k = 0; k < i.inputs(); ++k) {
    if (!i.rank_known(k)) {
      sum = sum + i.fresh();
      continue;
    }
    if (i.rank(k) != dims.size()) {
      return i.fail("input {} is {}, input {} is {}: their ranks differ", first, to_string(i.dims(first)), k,
                    to_string(i.dims(k)));
    }
    sum = sum + i.dim(k, axis);
    for (size_t a = 0; a < dims.size(); ++a) {
      if (a == axis || k == first) continue;
      SX_TRY(i.require_equal(dims[a], i.dim(k, a), sx::format("axis {} of inputs {} and {}", a, first, k)));
      if (i.dim(k, a).is_constant()) dims[a] = i.dim(k, a);
    }
  }
  dims[axis] = sum;
  const bool small = dims.size() == 1;
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  if (small) join_elements(i);
  return {};
}

static Status eval(Eval& e) {
  Tensor& out = e.out(0);
  SX_ASSIGN(const size_t axis, e.axis(e.integer("axis"), out.rank()));
  const std::span<const int64_t> dims = out.dims();
  const int64_t outer = product(dims.first(axis)), inner = product(dims.subspan(axis + 1));
  int64_t at = 0;
  for (size_t k = 0; k < e.inputs(); ++k) {
    const int64_t run = e.in(k).dims()[axis] * inner;
    for (int64_t o : turns(outer, size_t(run)))
      move_run(e.in(k), o * run, out, o * dims[axis] * inner + at, run);
    at += run;
  }
  return {};
}

static Status lift_axis(Lift& l) {
  if (!l.attrs().has("axis")) l.attrs().set("axis", int64_t(1));
  return {};
}

extern const Op op = {
    .name = "Concat",
    .in = {{"inputs", "T", kVariadic}},
    .out = {{"concat_result", "T"}},
    .types = {{"T", kAll13}},
    .attrs = {required_attr("axis", AttrKind::integer)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 11, .types = {{"T", kOldAll}}},
                {.since = 4},
                {.since = 1,
                 .types = {{"T", kOldFloats}},
                 .attrs = {{optional_attr("axis", AttrKind::integer)}},
                 .lift = lift_axis}},
};

}  // namespace sx::ops::concat
