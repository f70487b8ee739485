// SPDX-License-Identifier: Apache-2.0
// ReduceSum: the sum over the axes.
#include "ops/common/reduce.h"

namespace sx::ops::reducesum {

static Status eval(Eval& e) {
  return eval_fold(
      e, kNoSum, [](auto sum, auto v) { return wrap_add(sum, decltype(sum)(v)); },
      [](auto zero, auto sum, size_t) { return decltype(zero)(sum); });
}

extern const Op op = {
    .name = "ReduceSum",
    .in = reduce_inputs(),
    .out = {{"reduced", "T"}},
    .types = {{"T", kFloats | kOldArithmetic}},
    .attrs = reduce_attrs(),
    .infer = infer_reduce,
    .eval = eval,
    .history = {{.since = 13}, reduce_by_attribute(11, {{"T", kOldFloats | kOldArithmetic}}), {.since = 1}},
};

}  // namespace sx::ops::reducesum
