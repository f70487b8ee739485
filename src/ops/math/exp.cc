// SPDX-License-Identifier: Apache-2.0
// Exp: e to the power of each element.
#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::exp {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return std::exp(x); });
}

extern const Op op = {
    .name = "Exp",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 6, .types = {{"T", kOldFloats}}},
                {.since = 1, .attrs = {{kConsumedInputs}}, .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::exp
