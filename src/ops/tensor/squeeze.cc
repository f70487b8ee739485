// SPDX-License-Identifier: Apache-2.0
// Squeeze: drops axes of size 1: those named, or all.
#include <algorithm>

#include "graph/lift.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::squeeze {

static Status infer(Infer& i) {
  std::vector<int64_t> axes;
  const bool named = i.has(1);
  if (!i.rank_known(0) || (named && !i.constant_ints(1, axes))) {
    // With no axis left there would be nothing to find out later, and nobody would look at the axes.
    if (i.rank_known(0) && named && i.rank_known(1) && i.rank(1) == 1 && i.dim(1, 0).is_constant() &&
        size_t(i.dim(1, 0).constant()) < i.rank(0)) {
      i.set_ranked(0, i.elem(0), i.rank(0) - size_t(i.dim(1, 0).constant()));
    } else {
      i.set_unknown_shape(0, i.elem(0));
    }
    return {};
  }
  const auto& dims = i.dims(0);
  if (!named && std::any_of(dims.begin(), dims.end(), [](Dim d) { return !d.is_constant(); })) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  SX_ASSIGN(const std::vector<size_t> gone, normal_axes(axes, dims.size()));
  std::vector<Dim> kept;
  for (size_t k = 0; k < dims.size(); ++k) {
    const bool drop = named ? std::find(gone.begin(), gone.end(), k) != gone.end() : dims[k].is_constant(1);
    if (!drop)
      kept.push_back(dims[k]);
    else
      SX_TRY(i.require_equal(dims[k], 1, sx::format("the squeezed axis {}", k)));
  }
  i.set_tensor(0, i.elem(0), Shape(std::move(kept)));
  if (const auto* e = i.elements(0)) i.set_elements(0, *e);
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(Tensor t, e.in(0).reshaped(e.out(0).dims()));
  e.set(0, Value(std::move(t)));
  return {};
}

static Status lift_axes(Lift& l) {
  l.attr_to_input("axes", 1);
  return {};
}

extern const Op op = {
    .name = "Squeeze",
    .in = {{"data", "T"}, {"axes", "tensor(int64)", kOptional}},
    .out = {{"squeezed", "T"}},
    .types = {{"T", kAll25}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 25},
                {.since = 24, .types = {{"T", kAll24}}},
                {.since = 23, .types = {{"T", kAll23}}},
                {.since = 21, .types = {{"T", kAll21}}},
                {.since = 13, .types = {{"T", kAll13}}},
                {.since = 11,
                 .types = {{"T", kOldAll}},
                 .attrs = {{optional_attr("axes", AttrKind::integers)}},
                 .in = {{{"data", "T"}}},
                 .lift = lift_axes},
                {.since = 1}},
    .view = reshape_view,
    .view_keeps_order = true,
};

}  // namespace sx::ops::squeeze
