// SPDX-License-Identifier: Apache-2.0
// Ceil: the smallest whole number not below each element.
#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::ceil {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return std::ceil(x); });
}

extern const Op op = {
    .name = "Ceil",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 6, .types = {{"T", kOldFloats}}},
                {.since = 1, .attrs = {{kConsumedInputs}}, .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::ceil
