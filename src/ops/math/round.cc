// SPDX-License-Identifier: Apache-2.0
// Round: to the nearest whole number, halves to the even one.
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::round {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return std::nearbyint(x); });
}

extern const Op op = {
    .name = "Round",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22}, {.since = 11, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::round
