// SPDX-License-Identifier: Apache-2.0
// ReduceL1: the sum of absolute values over the axes.
#include "ops/common/elementwise.h"
#include "ops/common/reduce.h"

namespace sx::ops::reducel1 {

static Status eval(Eval& e) {
  return eval_fold(
      e, kNoSum,
      [](auto sum, auto v) {
        const auto wide = decltype(sum)(v);
        return wrap_add(sum, wide < 0 ? wrap_sub(decltype(sum)(0), wide) : wide);
      },
      [](auto zero, auto sum, size_t) { return decltype(zero)(sum); });
}

extern const Op op = {
    .name = "ReduceL1",
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

}  // namespace sx::ops::reducel1
