// SPDX-License-Identifier: Apache-2.0
// Mish: x * tanh(Softplus(x)).
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::mish {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) {
    return x * std::tanh(larger<decltype(x)>(x, 0) + std::log1p(std::exp(-std::fabs(x))));
  });
}

extern const Op op = {
    .name = "Mish",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22}, {.since = 18, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::mish
