// SPDX-License-Identifier: Apache-2.0
// Transpose: axes in another order; reversed if none is given.
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::transpose {

static Result<std::vector<size_t>> order_of(const Attrs& attrs, size_t rank) {
  const auto* perm = attrs.get<std::vector<int64_t>>("perm");
  std::vector<size_t> order;
  if (!perm) {
    for (size_t k = rank; k-- > 0;) order.push_back(k);
    return order;
  }
  if (perm->size() != rank) {
    return error(Code::invalid_model, "perm has {} axes, the input has rank {}", perm->size(), rank);
  }
  return normal_axes(*perm, rank);
}

static Status infer(Infer& i) {
  if (!i.rank_known(0)) {
    const auto* perm = i.attrs().get<std::vector<int64_t>>("perm");
    if (perm)
      i.set_ranked(0, i.elem(0), perm->size());
    else
      i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  SX_ASSIGN(const std::vector<size_t> order, order_of(i.attrs(), i.rank(0)));
  std::vector<Dim> dims;
  for (size_t axis : order) dims.push_back(i.dim(0, axis));
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  if (const auto* e = i.elements(0)) i.set_elements(0, *e);
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(const std::vector<size_t> order, order_of(e.attrs(), e.in(0).rank()));
  SX_ASSIGN(Tensor t, permuted(e.in(0), order));
  e.set(0, Value(std::move(t)));
  return {};
}

static bool view(const ViewArgs& args, size_t, ViewMap& map) {
  const auto order = order_of(args.attrs, args.dims.size());
  if (!order.ok()) return false;
  for (size_t axis : *order) map.strides.push_back(args.strides[axis]);
  return true;
}

extern const Op op = {
    .name = "Transpose",
    .in = {{"data", "T"}},
    .out = {{"transposed", "T"}},
    .types = {{"T", kAll25}},
    .attrs = {optional_attr("perm", AttrKind::integers)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 25},
                {.since = 24, .types = {{"T", kAll24}}},
                {.since = 23, .types = {{"T", kAll23}}},
                {.since = 21, .types = {{"T", kAll21}}},
                {.since = 13, .types = {{"T", kAll13}}},
                {.since = 1, .types = {{"T", kOldAll}}}},
    .view = view,
};

}  // namespace sx::ops::transpose
