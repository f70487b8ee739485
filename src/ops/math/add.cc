// SPDX-License-Identifier: Apache-2.0
// Add: a + b. Integers wrap around.
#include "ops/common/elements.h"
#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::add {

static Status infer(Infer& i) { return infer_arithmetic(i, exact_sum); }

static Status eval(Eval& e) {
  return map2(e, [](auto x, auto y) { return wrap_add(x, y); });
}

extern const Op op = {
    .name = "Add",
    .in = {{"A", "T"}, {"B", "T"}},
    .out = {{"C", "T"}},
    .types = {{"T", kNumbers}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 14},
                {.since = 13, .types = {{"T", kFloats | kOldArithmetic}}},
                {.since = 7, .types = {{"T", kOldFloats | kOldArithmetic}}},
                {.since = 6, .attrs = {{kOldAxis, kOldBroadcast}}, .lift = lift_axis_broadcast},
                {.since = 1,
                 .types = {{"T", kOldFloats}},
                 .attrs = {{kOldAxis, kOldBroadcast, kConsumedInputs}},
                 .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::add
