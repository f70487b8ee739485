// SPDX-License-Identifier: Apache-2.0
// Floor: the largest whole number not above each element.
#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::floor {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return std::floor(x); });
}

extern const Op op = {
    .name = "Floor",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 6, .types = {{"T", kOldFloats}}},
                {.since = 1, .attrs = {{kConsumedInputs}}, .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::floor
