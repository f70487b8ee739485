// SPDX-License-Identifier: Apache-2.0
// Cosh: the hyperbolic cosine of each element.
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::cosh {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return std::cosh(x); });
}

extern const Op op = {
    .name = "Cosh",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22}, {.since = 9, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::cosh
