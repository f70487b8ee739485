// SPDX-License-Identifier: Apache-2.0
// ReduceMin: the smallest element over the axes; NaN if one is NaN.
#include "ops/common/reduce.h"

namespace sx::ops::reducemin {

static Status eval(Eval& e) {
  const uint64_t of_nothing = integer_highest(e.in(0).type());
  return eval_fold(
      e, [](auto zero) { return min_of(std::span<const decltype(zero)>()); },
      [](auto low, auto v) { return v < low || v != v ? v : low; },
      [=](auto, auto low, size_t n) {
        return std::is_integral_v<decltype(low)> && n == 0 ? decltype(low)(of_nothing) : low;
      });
}

extern const Op op = {
    .name = "ReduceMin",
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

}  // namespace sx::ops::reducemin
