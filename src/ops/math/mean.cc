// SPDX-License-Identifier: Apache-2.0
// Mean: the mean of all inputs at each place.
#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::mean {

static Status eval(Eval& e) {
  const size_t n = e.inputs();
  return map_all<kFloatClasses>(
      e, [](auto x, auto y) { return x + y; }, [=](auto sum) { return sum / decltype(sum)(n); });
}

extern const Op op = {
    .name = "Mean",
    .in = {{"data_0", "T", kVariadic}},
    .out = {{"mean", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_broadcast,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 8, .types = {{"T", kOldFloats}}},
                {.since = 6},
                {.since = 1, .attrs = {{kConsumedInputs}}, .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::mean
