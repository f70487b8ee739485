// SPDX-License-Identifier: Apache-2.0
// Xor: one, not both.
#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::xor_ {

static Status eval(Eval& e) {
  return map2(e, [](auto x, auto y) -> bool { return x != y; });
}

extern const Op op = {
    .name = "Xor",
    .in = {{"A", "T"}, {"B", "T"}},
    .out = {{"C", "T1"}},
    .types = {{"T", kBool}, {"T1", kBool}},
    .infer = infer_broadcast_bool,
    .eval = eval,
    .history = {{.since = 7},
                {.since = 1, .attrs = {{kOldAxis, kOldBroadcast}}, .lift = lift_axis_broadcast}},
};

}  // namespace sx::ops::xor_
