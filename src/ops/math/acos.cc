// SPDX-License-Identifier: Apache-2.0
// Acos: the arccosine of each element.
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::acos {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return std::acos(x); });
}

extern const Op op = {
    .name = "Acos",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22}, {.since = 7, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::acos
