// SPDX-License-Identifier: Apache-2.0
// Neg: -x. Integers wrap around.
#include "ops/common/elements.h"
#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::neg {

static Status infer(Infer& i) {
  return infer_arithmetic_unary(i, [](Dim a) { return exact_difference(0, a); });
}

static Status eval(Eval& e) {
  return map1(e, [](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>)
      return -x;
    else
      return wrap_sub(decltype(x)(0), x);
  });
}

extern const Op op = {
    .name = "Neg",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats | kSignedInts}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 6, .types = {{"T", kOldFloats | kSignedInts}}},
                {.since = 1,
                 .types = {{"T", kOldFloats}},
                 .attrs = {{kConsumedInputs}},
                 .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::neg
