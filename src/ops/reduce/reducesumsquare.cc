// SPDX-License-Identifier: Apache-2.0
// ReduceSumSquare: the sum of squares over the axes.
#include "ops/common/elementwise.h"
#include "ops/common/reduce.h"

namespace sx::ops::reducesumsquare {

static Status eval(Eval& e) {
  return eval_reduce(e, [](auto x) {
    using T = std::remove_const_t<typename decltype(x)::element_type>;
    Wide<T> sum = 0;
    for (Wide<T> v : stoppable(x)) sum = wrap_add(sum, wrap_mul(v, v));
    return T(sum);
  });
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
