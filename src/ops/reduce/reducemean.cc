// SPDX-License-Identifier: Apache-2.0
// ReduceMean: the mean over the axes; integers are cut off towards zero.
#include "ops/common/reduce.h"

namespace sx::ops::reducemean {

static Status eval(Eval& e) {
  return eval_reduce(e, [](auto x) {
    using T = std::remove_const_t<typename decltype(x)::element_type>;
    if constexpr (std::is_same_v<T, float>) {  // a sum past its range may have a mean within it
      double sum = 0;
      for (float v : stoppable(x)) sum += v;
      return T(sum / double(x.size()));
    } else {
      const T sum = sum_of(x);
      return std::is_integral_v<T> && x.empty() ? sum : sum / T(x.size());
    }
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
