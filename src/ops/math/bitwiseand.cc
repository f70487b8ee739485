// SPDX-License-Identifier: Apache-2.0
// BitwiseAnd: a & b, bit by bit.
#include "ops/common/elementwise.h"

namespace sx::ops::bitwiseand {

static Status eval(Eval& e) {
  return map2<kIntClasses>(e, [](auto x, auto y) { return x & y; });
}

extern const Op op = {
    .name = "BitwiseAnd",
    .in = {{"A", "T"}, {"B", "T"}},
    .out = {{"C", "T"}},
    .types = {{"T", kInts}},
    .infer = infer_broadcast,
    .eval = eval,
    .history = {{.since = 18}},
};

}  // namespace sx::ops::bitwiseand
