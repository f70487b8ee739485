// SPDX-License-Identifier: Apache-2.0
// ReduceMax: the largest element over the axes; NaN if one is NaN.
#include "ops/common/reduce.h"

namespace sx::ops::reducemax {

static Status eval(Eval& e) {
  const uint64_t of_nothing = integer_lowest(e.in(0).type());
  return eval_fold(
      e, [](auto zero) { return max_of(std::span<const decltype(zero)>()); },
      [](auto top, auto v) { return v > top || v != v ? v : top; },
      [=](auto, auto top, size_t n) {
        return std::is_integral_v<decltype(top)> && n == 0 ? decltype(top)(of_nothing) : top;
      });
}

extern const Op op = {
    .name = "ReduceMax",
    .in = reduce_inputs(),
    .out = {{"reduced", "T"}},
    .types = {{"T", kFloats | kOldArithmetic | kBytes | kBool}},
    .attrs = reduce_attrs(),
    .infer = infer_reduce,
    .eval = eval,
    .history = {{.since = 20},
                {.since = 18, .types = {{"T", kFloats | kOldArithmetic | kBytes}}},
                reduce_by_attribute(13),
                {.since = 12, .types = {{"T", kOldFloats | kOldArithmetic | kBytes}}},
                {.since = 11, .types = {{"T", kOldFloats | kOldArithmetic}}},
                {.since = 1}},
};

}  // namespace sx::ops::reducemax
