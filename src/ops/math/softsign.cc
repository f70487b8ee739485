// SPDX-License-Identifier: Apache-2.0
// Softsign: x / (1 + |x|).
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::softsign {

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return x / (1 + std::fabs(x)); });
}

extern const Op op = {
    .name = "Softsign",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22}, {.since = 1, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::softsign
