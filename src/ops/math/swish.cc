// SPDX-License-Identifier: Apache-2.0
// Swish: x * Sigmoid(alpha * x).
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::swish {

static Status eval(Eval& e) {
  const float alpha = e.floating("alpha");
  return map1<kFloatClasses>(e, [=](auto x) { return x / (1 + std::exp(-alpha * x)); });
}

extern const Op op = {
    .name = "Swish",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_float("alpha", 1.0f)},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 24}},
};

}  // namespace sx::ops::swish
