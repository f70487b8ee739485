// SPDX-License-Identifier: Apache-2.0
// ReduceLogSumExp: log(sum(exp(x))) over the axes, without overflow.
#include <cmath>

#include "ops/common/reduce.h"

namespace sx::ops::reducelogsumexp {

static Status eval(Eval& e) {
  return eval_reduce<kFloatClasses>(e, [](auto x) {
    using T = std::remove_const_t<typename decltype(x)::element_type>;
    const T top = max_of(x);
    if (std::isinf(top)) return top;  // of nothing: minus infinity
    Wide<T> sum = 0;
    for (T v : stoppable(x)) sum += std::exp(v - top);
    return T(top + std::log(sum));
  });
}

extern const Op op = {
    .name = "ReduceLogSumExp",
    .in = reduce_inputs(),
    .out = {{"reduced", "T"}},
    .types = {{"T", kFloats}},
    .attrs = reduce_attrs(),
    .infer = infer_reduce,
    .eval = eval,
    .history = {{.since = 28},
                {.since = 18,
                 .types = {{"T", kFloats | kOldArithmetic}},
                 .lift = lift_integers_through_double},
                reduce_by_attribute(13),
                {.since = 11, .types = {{"T", kOldFloats | kOldArithmetic}}},
                {.since = 1}},
};

}  // namespace sx::ops::reducelogsumexp
