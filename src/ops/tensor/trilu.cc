// SPDX-License-Identifier: Apache-2.0
// Trilu: the upper or lower triangle of matrices, from diagonal k on; zero elsewhere.
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::trilu {

static Status infer(Infer& i) {
  if (i.rank_known(0) && i.rank(0) < 2)
    return i.fail("the input has rank {}, at least 2 is needed", i.rank(0));
  i.out(0) = i.in(0);
  return {};
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  const bool upper = e.integer("upper") != 0;
  const int64_t k = e.has(1) && e.in(1).count() > 0 ? number_at<int64_t>(e.in(1)) : 0;
  const int64_t columns = x.dims().back(), rows = x.dims()[x.rank() - 2];
  SX_ASSIGN(const Tensor zero, Tensor::zeros(x.type(), {}));
  move_each(
      x, e.out(0),
      [&](int64_t at) {
        const int64_t row = at / columns % rows, column = at % columns;
        const bool kept = upper ? column - row >= k : column - row <= k;
        return kept ? at : -1;
      },
      &zero);
  return {};
}

extern const Op op = {
    .name = "Trilu",
    .in = {{"input", "T"}, {"k", "tensor(int64)", kOptional}},
    .out = {{"output", "T"}},
    .types = {{"T", kAll13}},
    .attrs = {attr_int("upper", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 14}},
};

}  // namespace sx::ops::trilu
