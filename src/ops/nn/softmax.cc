// SPDX-License-Identifier: Apache-2.0
// Softmax: exp(x - max) / sum along one axis.
#include <cmath>

#include "ops/common/softmax.h"

namespace sx::ops::softmax {

static Status eval(Eval& e) {
  return eval_softmax(e, [](auto x, auto y) {
    const auto top = max_of(x);
    for (size_t k : turns(x.size())) y[k] = std::exp(x[k] - top);
    const auto sum = sum_of(y);
    for (auto& v : stoppable(y)) v /= sum;
  });
}

extern const Op op = {
    .name = "Softmax",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_int("axis", -1)},
    .infer = infer_softmax,
    .eval = eval,
    .history = softmax_history(),
};

}  // namespace sx::ops::softmax
