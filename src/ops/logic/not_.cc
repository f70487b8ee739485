// SPDX-License-Identifier: Apache-2.0
// Not: the opposite of each boolean.
#include "ops/common/elementwise.h"

namespace sx::ops::not_ {

static Status eval(Eval& e) {
  return map1(e, [](auto x) -> bool { return x == 0; });
}

extern const Op op = {
    .name = "Not",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kBool}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::not_
