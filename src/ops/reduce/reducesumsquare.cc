// SPDX-License-Identifier: Apache-2.0
// ReduceSumSquare: the sum of squares over the axes.
#include "ops/common/elementwise.h"
#include "ops/common/reduce.h"

namespace sx::ops::reducesumsquare {

static Status eval(Eval& e) {
  return eval_fold(
      e, kNoSum, [](auto sum, auto v) { return wrap_add(sum, wrap_mul(decltype(sum)(v), decltype(sum)(v))); },
      [](auto zero, auto sum, size_t) { return decltype(zero)(sum); });
}

extern const Op op = {
    .name = "ReduceSumSquare",
    .in = reduce_inputs(),
    .out = {{"reduced", "T"}},
    .types = {{"T", kFloats | kOldArithmetic}},
    .attrs = reduce_attrs(),
    .infer = infer_reduce,
    .eval = eval,
    .history = {{.since = 18},
                reduce_by_attribute(13),
                {.since = 11, .types = {{"T", kOldFloats | kOldArithmetic}}},
                {.since = 1}},
};

}  // namespace sx::ops::reducesumsquare
