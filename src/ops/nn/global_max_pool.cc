// SPDX-License-Identifier: Apache-2.0
// GlobalMaxPool: the largest element of each channel's plane.
#include "ops/common/global_pool.h"

namespace sx::ops::global_max_pool {

static Status eval(Eval& e) {
  return eval_global_pool(e, [](auto x) { return max_of(x); });
}

extern const Op op = {
    .name = "GlobalMaxPool",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_global_pool,
    .eval = eval,
    .history = {{.since = 22}, {.since = 1, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::global_max_pool
