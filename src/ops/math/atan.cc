// SPDX-License-Identifier: Apache-2.0
// Atan: the arctangent of each element.
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::atan {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return std::atan(x); });
}

extern const Op op = {
    .name = "Atan",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22}, {.since = 7, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::atan
