// SPDX-License-Identifier: Apache-2.0
// Sqrt: the square root of each element; NaN below zero.
#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::sqrt {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return std::sqrt(x); });
}

extern const Op op = {
    .name = "Sqrt",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 6, .types = {{"T", kOldFloats}}},
                {.since = 1, .attrs = {{kConsumedInputs}}, .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::sqrt
