// SPDX-License-Identifier: Apache-2.0
// Sign: -1, 0 or 1; NaN stays NaN.
#include "ops/common/elementwise.h"

namespace sx::ops::sign {

static Status eval(Eval& e) {
  return map1(e, [](auto x) { return x > 0 ? decltype(x)(1) : x < 0 ? decltype(x)(-1) : x; });
}

extern const Op op = {
    .name = "Sign",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kNumbers}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 13}, {.since = 9, .types = {{"T", kOldNumbers}}}},
};

}  // namespace sx::ops::sign
