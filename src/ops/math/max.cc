// SPDX-License-Identifier: Apache-2.0
// Max: the largest of all inputs at each place; NaN if one is NaN.
#include "ops/common/elements.h"
#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::max {

static Status infer(Infer& i) {
  return infer_arithmetic(i, [](Dim a, Dim b) { return std::optional(sx::max(a, b)); });
}

static Status eval(Eval& e) {
  return map_all(e, [](auto x, auto y) { return larger(x, y); });
}

extern const Op op = {
    .name = "Max",
    .in = {{"data_0", "T", kVariadic}},
    .out = {{"max", "T"}},
    .types = {{"T", kNumbers}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 12, .types = {{"T", kOldNumbers}}},
                {.since = 8, .types = {{"T", kOldFloats}}},
                {.since = 6},
                {.since = 1, .attrs = {{kConsumedInputs}}, .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::max
