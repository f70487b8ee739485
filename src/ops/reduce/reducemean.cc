// SPDX-License-Identifier: Apache-2.0
// ReduceMean: the mean over the axes; integers are cut off towards zero.
#include "ops/common/reduce.h"

namespace sx::ops::reducemean {

static Status eval(Eval& e) {
  return eval_fold(
      e, kNoSum, [](auto sum, auto v) { return wrap_add(sum, decltype(sum)(v)); },
      [](auto zero, auto sum, size_t n) {  // a sum past its range may have a mean within it
        using T = decltype(zero);
        return std::is_integral_v<T> && n == 0 ? T(sum) : T(sum / decltype(sum)(n));
      });
}

extern const Op op = {
    .name = "ReduceMean",
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

}  // namespace sx::ops::reducemean
