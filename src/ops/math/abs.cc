// SPDX-License-Identifier: Apache-2.0
// Abs: |x|. Integers wrap around.
#include <cmath>

#include "ops/common/elements.h"
#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::abs {

static Status infer(Infer& i) {
  return infer_arithmetic_unary(
      i, [](Dim a) { return always_at_least(a, 0) ? std::optional(a) : std::nullopt; });
}

static Status eval(Eval& e) {
  return map1(e, [](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>)
      return std::fabs(x);
    else
      return x < 0 ? wrap_sub(decltype(x)(0), x) : x;
  });
}

extern const Op op = {
    .name = "Abs",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kNumbers}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 6, .types = {{"T", kOldNumbers}}},
                {.since = 1,
                 .types = {{"T", kOldFloats}},
                 .attrs = {{kConsumedInputs}},
                 .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::abs
