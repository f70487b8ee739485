// SPDX-License-Identifier: Apache-2.0
// LessOrEqual: a <= b.
#include "ops/common/elements.h"
#include "ops/common/elementwise.h"

namespace sx::ops::lessorequal {

static std::optional<bool> decide(Dim a, Dim b) {
  const auto less = decide_less(b, a);
  return less ? std::optional(!*less) : std::nullopt;
}
static Status infer(Infer& i) { return infer_comparison(i, decide); }

static Status eval(Eval& e) {
  return map2(e, [](auto x, auto y) { return x <= y; });
}

extern const Op op = {
    .name = "LessOrEqual",
    .in = {{"A", "T"}, {"B", "T"}},
    .out = {{"C", "T1"}},
    .types = {{"T", kNumbers}, {"T1", kBool}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 16}, {.since = 12, .types = {{"T", kOldNumbers}}}},
};

}  // namespace sx::ops::lessorequal
