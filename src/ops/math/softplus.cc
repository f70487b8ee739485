// SPDX-License-Identifier: Apache-2.0
// Softplus: log(1 + exp(x)), without overflow.
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::softplus {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(
      e, [](auto x) { return larger<decltype(x)>(x, 0) + std::log1p(std::exp(-std::fabs(x))); });
}

extern const Op op = {
    .name = "Softplus",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22}, {.since = 1, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::softplus
