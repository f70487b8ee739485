// SPDX-License-Identifier: Apache-2.0
// LogSoftmax: x - max - log(sum(exp(x - max))) along one axis.
#include <cmath>

#include "ops/common/softmax.h"

namespace sx::ops::log_softmax {

static Status eval(Eval& e) {
  return eval_softmax(e, [](auto x, auto y) {
    const auto top = max_of(x);
    for (size_t k : turns(x.size())) y[k] = std::exp(x[k] - top);
    const auto log_sum = std::log(sum_of(y));
    for (size_t k : turns(x.size())) y[k] = x[k] - top - log_sum;
  });
}

extern const Op op = {
    .name = "LogSoftmax",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_int("axis", -1)},
    .infer = infer_softmax,
    .eval = eval,
    .history = softmax_history(),
};

}  // namespace sx::ops::log_softmax
