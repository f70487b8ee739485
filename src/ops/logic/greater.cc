// SPDX-License-Identifier: Apache-2.0
// Greater: a > b.
#include "ops/common/elements.h"
#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::greater {

static Status infer(Infer& i) {
  return infer_comparison(i, [](Dim a, Dim b) { return decide_less(b, a); });
}

static Status eval(Eval& e) {
  return map2(e, [](auto x, auto y) { return x > y; });
}

extern const Op op = {
    .name = "Greater",
    .in = {{"A", "T"}, {"B", "T"}},
    .out = {{"C", "T1"}},
    .types = {{"T", kNumbers}, {"T1", kBool}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 9, .types = {{"T", kOldNumbers}}},
                {.since = 7, .types = {{"T", kOldFloats}}},
                {.since = 1, .attrs = {{kOldAxis, kOldBroadcast}}, .lift = lift_axis_broadcast}},
};

}  // namespace sx::ops::greater
