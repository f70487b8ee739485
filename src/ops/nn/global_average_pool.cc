// SPDX-License-Identifier: Apache-2.0
// GlobalAveragePool: the mean of each channel's plane.
#include "ops/common/global_pool.h"

namespace sx::ops::global_average_pool {

static Status eval(Eval& e) {
  return eval_global_pool(e, [](auto x) { return sum_of(x) / decltype(sum_of(x))(x.size()); });
}

extern const Op op = {
    .name = "GlobalAveragePool",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer_global_pool,
    .eval = eval,
    .history = {{.since = 22}, {.since = 1, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::global_average_pool
