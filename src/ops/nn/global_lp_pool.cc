// SPDX-License-Identifier: Apache-2.0
// GlobalLpPool: the p-norm of each channel's plane.
#include <cmath>

#include "ops/common/global_pool.h"
#include "ops/common/legacy.h"

namespace sx::ops::global_lp_pool {

static Status eval(Eval& e) {
  const double p = double(e.integer("p"));
  return eval_global_pool(e, [=](auto x) {
    double sum = 0;
    for (double v : stoppable(x)) sum += std::pow(std::fabs(v), p);
    return std::pow(sum, 1 / p);
  });
}

extern const Op op = {
    .name = "GlobalLpPool",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_int("p", 2)},
    .infer = infer_global_pool,
    .eval = eval,
    .history = {{.since = 22},
                {.since = 2, .types = {{"T", kOldFloats}}},
                {.since = 1, .attrs = {{attr_float("p", 2)}}, .lift = lift_real_p}},
};

}  // namespace sx::ops::global_lp_pool
