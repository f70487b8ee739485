// SPDX-License-Identifier: Apache-2.0
// Sin: the sine of each element.
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::sin {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return std::sin(x); });
}

extern const Op op = {
    .name = "Sin",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22}, {.since = 7, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::sin
