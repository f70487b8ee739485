// SPDX-License-Identifier: Apache-2.0
// Selu: gamma * x above zero, gamma * alpha * (exp(x) - 1) below.
#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::selu {

// The defaults had fewer digits.
static Status lift_from_1(Lift& l) {
  l.attrs().set("alpha", l.attrs().floating("alpha", 1.6732f));
  l.attrs().set("gamma", l.attrs().floating("gamma", 1.0507f));
  return lift_consumed_inputs(l);
}

static Status eval(Eval& e) {
  const float alpha = e.floating("alpha"), gamma = e.floating("gamma");
  return map1<kFloatClasses>(e, [=](auto x) { return x > 0 ? gamma * x : gamma * (alpha * std::expm1(x)); });
}

extern const Op op = {
    .name = "Selu",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_float("alpha", 1.67326319217681884765625f),
              attr_float("gamma", 1.05070102214813232421875f)},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22},
                {.since = 6, .types = {{"T", kOldFloats}}},
                {.since = 1,
                 .attrs = {{attr_float("alpha", 1.6732f), attr_float("gamma", 1.0507f), kConsumedInputs}},
                 .lift = lift_from_1}},
};

}  // namespace sx::ops::selu
