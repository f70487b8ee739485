// SPDX-License-Identifier: Apache-2.0
// Acosh: the inverse hyperbolic cosine of each element.
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::acosh {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return std::acosh(x); });
}

extern const Op op = {
    .name = "Acosh",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22}, {.since = 9, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::acosh
