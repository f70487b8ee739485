// SPDX-License-Identifier: Apache-2.0
// Erf: the error function of each element.
#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::erf {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return std::erf(x); });
}

extern const Op op = {
    .name = "Erf",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 9, .types = {{"T", kOldNumbers}}, .lift = lift_integers_through_double}},
};

}  // namespace sx::ops::erf
