// SPDX-License-Identifier: Apache-2.0
// Where: an element of X where the condition holds, of Y elsewhere, with broadcasting.
#include <algorithm>

#include "ops/engine/move.h"
#include "ops/engine/walk.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::where {

static Status infer(Infer& i) {
  SX_ASSIGN(Shape shape, i.broadcast_inputs(0, 3));
  const auto *c = i.elements(0), *x = i.elements(1), *y = i.elements(2);
  if (c && x && y && shape.known && shape.rank() <= 1) {
    const size_t n = std::max({c->size(), x->size(), y->size()});
    auto at = [](const std::vector<Dim>& v, size_t k) { return v[v.size() == 1 ? 0 : k]; };
    std::vector<Dim> out;
    for (size_t k = 0; k < n && !c->empty() && !x->empty() && !y->empty(); ++k) {
      const Dim choice = at(*c, k), a = at(*x, k), b = at(*y, k);
      if (choice.is_constant())
        out.push_back(choice.constant() ? a : b);
      else if (a == b)
        out.push_back(a);
      else
        break;
    }
    if (out.size() == n) i.set_elements(0, std::move(out));
  }
  i.set_tensor(0, i.elem(1), std::move(shape));
  return {};
}

static Status eval(Eval& e) {
  Tensor& out = e.out(0);
  Walk walk;
  walk.dims = out.dims();
  walk.strides.resize(3);
  for (size_t k = 0; k < 3; ++k) {
    if (!broadcast_strides(e.in(k).dims(), out.dims(), walk.strides[k])) {
      return e.fail("{} does not broadcast to {}", to_string(e.in(k).dims()), to_string(out.dims()));
    }
  }
  walk.simplify();
  move_chosen(walk, e.in(0), e.in(1), e.in(2), out);
  return {};
}

extern const Op op = {
    .name = "Where",
    .in = {{"condition", "B"}, {"X", "T"}, {"Y", "T"}},
    .out = {{"output", "T"}},
    .types = {{"B", kBool}, {"T", kAll13}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 16}, {.since = 9, .types = {{"T", kOldAll}}}},
};

}  // namespace sx::ops::where
