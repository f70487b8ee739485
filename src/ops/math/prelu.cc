// SPDX-License-Identifier: Apache-2.0
// PRelu: x above zero, slope * x below; the slope spreads over x.
#include "ops/common/elements.h"
#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::prelu {

// The slope was one number, or one a channel: [C] along axis 1.
static Status lift_from_6(Lift& l) {
  const Shape& slope = l.type(1).shape;
  if (slope.known && (slope.rank() != 1 || slope.dims[0].is_constant(1))) return {};
  return align_at_axis(l, 1, 1);
}

static Status infer(Infer& i) {
  SX_TRY(require_spreads(i, i.in(1).shape, i.in(0).shape, "slope and X"));
  return infer_same(i);
}

static Status eval(Eval& e) {
  return map2(e, [](auto x, auto slope) { return x < 0 ? wrap_mul(x, slope) : x; });
}

extern const Op op = {
    .name = "PRelu",
    .in = {{"X", "T"}, {"slope", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats | kOldArithmetic}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 16},
                {.since = 9, .types = {{"T", kOldFloats | kOldArithmetic}}},
                {.since = 7, .types = {{"T", kOldFloats}}},
                {.since = 6, .lift = lift_from_6},
                {.since = 1, .attrs = {{kConsumedInputs}}, .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::prelu
