// SPDX-License-Identifier: Apache-2.0
// Celu: max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::celu {

static Status eval(Eval& e) {
  const float alpha = e.floating("alpha");
  return map1<kFloatClasses>(e, [=](auto x) { return x > 0 ? x : alpha * std::expm1(x / alpha); });
}

extern const Op op = {
    .name = "Celu",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_float("alpha", 1.0f)},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 28}, {.since = 12, .types = {{"T", kF32}}}},
};

}  // namespace sx::ops::celu
