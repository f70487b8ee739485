// SPDX-License-Identifier: Apache-2.0
// HardSwish: x * HardSigmoid(x) with slope 1/6.
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::hardswish {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e,
                             [](auto x) { return x * clamp<decltype(x)>(x / 6 + decltype(x)(0.5), 0, 1); });
}

extern const Op op = {
    .name = "HardSwish",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22}, {.since = 14, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::hardswish
