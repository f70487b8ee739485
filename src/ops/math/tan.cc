// SPDX-License-Identifier: Apache-2.0
// Tan: the tangent of each element.
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::tan {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return std::tan(x); });
}

extern const Op op = {
    .name = "Tan",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22}, {.since = 7, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::tan
