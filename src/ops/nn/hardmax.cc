// SPDX-License-Identifier: Apache-2.0
// Hardmax: 1 at the first largest element along one axis, 0 elsewhere.
#include "ops/common/softmax.h"

namespace sx::ops::hardmax {

static Status eval(Eval& e) {
  return eval_softmax(e, [](auto x, auto y) {
    size_t top = 0;
    for (size_t k : turns(x.size())) {
      // NaN is the largest, as in ArgMax.
      if (x[top] < x[k] || (x[k] != x[k] && x[top] == x[top])) top = k;
    }
    for (auto& v : stoppable(y)) v = 0;
    if (!y.empty()) y[top] = 1;
  });
}

extern const Op op = {
    .name = "Hardmax",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_int("axis", -1)},
    .infer = infer_softmax,
    .eval = eval,
    .history = softmax_history(),
};

}  // namespace sx::ops::hardmax
