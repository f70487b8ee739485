// SPDX-License-Identifier: Apache-2.0
// Sum: all inputs added at each place.
#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::sum {

static Status eval(Eval& e) {
  return map_all<kFloatClasses>(e, [](auto x, auto y) { return x + y; });
}

extern const Op op = {
    .name = "Sum",
    .in = {{"data_0", "T", kVariadic}},
    .out = {{"sum", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_broadcast,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 8, .types = {{"T", kOldFloats}}},
                {.since = 6},
                {.since = 1, .attrs = {{kConsumedInputs}}, .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::sum
