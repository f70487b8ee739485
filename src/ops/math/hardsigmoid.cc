// SPDX-License-Identifier: Apache-2.0
// HardSigmoid: alpha * x + beta, kept within 0 and 1.
#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::hardsigmoid {

static Status eval(Eval& e) {
  const float alpha = e.floating("alpha");
  const float beta = e.floating("beta");
  return map1<kFloatClasses>(e, [=](auto x) { return clamp<decltype(x)>(alpha * x + beta, 0, 1); });
}

extern const Op op = {
    .name = "HardSigmoid",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_float("alpha", 0.2f), attr_float("beta", 0.5f)},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22},
                {.since = 6, .types = {{"T", kOldFloats}}},
                {.since = 1,
                 .attrs = {{attr_float("alpha", 0.2f), attr_float("beta", 0.5f), kConsumedInputs}},
                 .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::hardsigmoid
