// SPDX-License-Identifier: Apache-2.0
// ReduceLogSum: the logarithm of the sum over the axes.
#include <cmath>

#include "ops/common/reduce.h"

namespace sx::ops::reducelogsum {

static Status eval(Eval& e) {
  return eval_fold<kFloatClasses>(
      e, [](auto) { return 0.0; }, [](double sum, auto v) { return sum + double(v); },
      [](auto, double sum, size_t) { return std::log(sum); });
}

extern const Op op = {
    .name = "ReduceLogSum",
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

}  // namespace sx::ops::reducelogsum
