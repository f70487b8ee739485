// SPDX-License-Identifier: Apache-2.0
// Div: a / b. Integers are cut off towards zero.
#include "ops/common/elements.h"
#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::div {

// Cutting off is rounding down where nothing is negative. A size that turns out to be zero has no quotient,
// and the run is refused.
static std::optional<Dim> divide(Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) return Dim(safe_div(a.constant(), b.constant()));
  if (!always_at_least(a, 0) || !always_at_least(b, 0)) return {};
  return floordiv(a, b);
}
static Status infer(Infer& i) { return infer_arithmetic(i, divide); }

static Status eval(Eval& e) {
  return map2(e, [](auto x, auto y) { return safe_div(x, y); });
}

extern const Op op = {
    .name = "Div",
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

}  // namespace sx::ops::div
