// SPDX-License-Identifier: Apache-2.0
// BitwiseNot: every bit of each element turned.
#include "ops/common/elementwise.h"

namespace sx::ops::bitwisenot {

static Status eval(Eval& e) {
  return map1<kIntClasses>(e, [](auto x) { return ~x; });
}

extern const Op op = {
    .name = "BitwiseNot",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kInts}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 18}},
};

}  // namespace sx::ops::bitwisenot
