// SPDX-License-Identifier: Apache-2.0
// Unsqueeze: puts in axes of size 1 where they stand in the output.
#include <algorithm>

#include "graph/lift.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::unsqueeze {

static Status infer(Infer& i) {
  std::vector<int64_t> axes;
  if (!i.rank_known(0)) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  if (!i.constant_ints(1, axes)) {
    if (i.rank_known(1) && i.rank(1) == 1 && i.dim(1, 0).is_constant()) {
      i.set_ranked(0, i.elem(0), i.rank(0) + size_t(i.dim(1, 0).constant()));
    } else {
      i.set_unknown_shape(0, i.elem(0));
    }
    return {};
  }
  const size_t rank = i.rank(0) + axes.size();
  if (rank > Infer::kMostRank)
    return i.fail("would make {} axes, at most {} expected", rank, Infer::kMostRank);
  SX_ASSIGN(const std::vector<size_t> fresh, normal_axes(axes, rank));
  std::vector<Dim> dims;
  for (size_t k = 0, from = 0; k < rank; ++k) {
    const bool put = std::find(fresh.begin(), fresh.end(), k) != fresh.end();
    dims.push_back(put ? Dim(1) : i.dim(0, from));
    from += put ? 0 : 1;
  }
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  if (const auto* e = i.elements(0); e && rank <= 1) i.set_elements(0, *e);
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
    .name = "Unsqueeze",
    .in = {{"data", "T"}, {"axes", "tensor(int64)"}},
    .out = {{"expanded", "T"}},
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
                 .attrs = {{required_attr("axes", AttrKind::integers)}},
                 .in = {{{"data", "T"}}},
                 .lift = lift_axes},
                {.since = 1}},
    .view = reshape_view,
    .view_keeps_order = true,
};

}  // namespace sx::ops::unsqueeze
