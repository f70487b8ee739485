// SPDX-License-Identifier: Apache-2.0
// Tanh: the hyperbolic tangent of each element.
#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::tanh {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return std::tanh(x); });
}

extern const Op op = {
    .name = "Tanh",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 6, .types = {{"T", kOldFloats}}},
                {.since = 1, .attrs = {{kConsumedInputs}}, .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::tanh
