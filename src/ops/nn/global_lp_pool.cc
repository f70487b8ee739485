// SPDX-License-Identifier: Apache-2.0
// GlobalLpPool: the p-norm of each channel's plane.
#include <cmath>

#include "graph/lift.h"
#include "ops/common/global_pool.h"

namespace sx::ops::global_lp_pool {

static Status eval(Eval& e) {
  const double p = double(e.integer("p"));
  return eval_global_pool(e, [=](auto x) {
    double sum = 0;
    for (double v : x) sum += std::pow(std::fabs(v), p);
    return std::pow(sum, 1 / p);
  });
}

// p was a real number.
static Status lift_from_1(Lift& l) {
  const float p = l.attrs().floating("p", 2);
  if (p != std::floor(p)) return l.fail("p is {}: only whole numbers are known to newer versions", p);
  l.attrs().set("p", int64_t(p));
  return {};
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
                {.since = 1, .attrs = {{attr_float("p", 2)}}, .lift = lift_from_1}},
};

}  // namespace sx::ops::global_lp_pool
