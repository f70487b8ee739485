// SPDX-License-Identifier: Apache-2.0
// Hardmax: 1 at the first largest element along one axis, 0 elsewhere.
#include <algorithm>

#include "ops/common/softmax.h"

namespace sx::ops::hardmax {

static Status eval(Eval& e) {
  return eval_softmax(e, [](auto x, auto y) {
    const auto top = std::max_element(x.begin(), x.end());
    for (auto& v : y) v = 0;
    if (top != x.end()) y[size_t(top - x.begin())] = 1;
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
