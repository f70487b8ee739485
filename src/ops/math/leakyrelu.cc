// SPDX-License-Identifier: Apache-2.0
// LeakyRelu: x above zero, alpha * x below.
#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::leakyrelu {

static Status eval(Eval& e) {
  const float alpha = e.floating("alpha");
  return map1<kFloatClasses>(e, [=](auto x) { return x < 0 ? alpha * x : x; });
}

extern const Op op = {
    .name = "LeakyRelu",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_float("alpha", 0.01f)},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 16},
                {.since = 6, .types = {{"T", kOldFloats}}},
                {.since = 1,
                 .attrs = {{attr_float("alpha", 0.01f), kConsumedInputs}},
                 .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::leakyrelu
