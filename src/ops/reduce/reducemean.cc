// SPDX-License-Identifier: Apache-2.0
// ReduceMean: the mean over the axes; integers are cut off towards zero.
#include "ops/common/reduce.h"

namespace sx::ops::reducemean {

static Status eval(Eval& e) {
  return eval_reduce(e, [](auto x) {
    const auto sum = sum_of(x);
    return std::is_integral_v<decltype(sum)> && x.empty() ? sum : sum / decltype(sum)(x.size());
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
