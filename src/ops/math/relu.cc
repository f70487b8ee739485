// SPDX-License-Identifier: Apache-2.0
// Relu: x above zero, else zero; NaN stays NaN.
#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::relu {

static Status eval(Eval& e) {
  return map1(e, [](auto x) { return x < 0 ? decltype(x)(0) : x; });
}

extern const Op op = {
    .name = "Relu",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats | kSignedInts}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 14},
                {.since = 13, .types = {{"T", kFloats}}},
                {.since = 6, .types = {{"T", kOldFloats}}},
                {.since = 1, .attrs = {{kConsumedInputs}}, .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::relu
