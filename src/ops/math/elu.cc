// SPDX-License-Identifier: Apache-2.0
// Elu: x above zero, alpha * (exp(x) - 1) below.
#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::elu {

static Status eval(Eval& e) {
  const float alpha = e.floating("alpha");
  return map1<kFloatClasses>(e, [=](auto x) { return x < 0 ? alpha * std::expm1(x) : x; });
}

extern const Op op = {
    .name = "Elu",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_float("alpha", 1.0f)},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22},
                {.since = 6, .types = {{"T", kOldFloats}}},
                {.since = 1,
                 .attrs = {{attr_float("alpha", 1.0f), kConsumedInputs}},
                 .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::elu
