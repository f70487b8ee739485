// SPDX-License-Identifier: Apache-2.0
// Asinh: the inverse hyperbolic sine of each element.
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::asinh {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return std::asinh(x); });
}

extern const Op op = {
    .name = "Asinh",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22}, {.since = 9, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::asinh
