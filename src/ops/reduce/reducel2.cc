// SPDX-License-Identifier: Apache-2.0
// ReduceL2: the square root of the sum of squares over the axes.
#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/common/reduce.h"

namespace sx::ops::reducel2 {

// Scaled by the largest element where squares would overflow or vanish.
static double length_of(std::span<const double> x) {
  double sum = 0, top = 0;
  for (double v : stoppable(x)) sum += v * v, top = std::fmax(top, std::fabs(v));
  if (std::isnormal(sum) || !std::isnormal(top)) return std::sqrt(sum);
  sum = 0;
  for (double v : stoppable(x)) sum += (v / top) * (v / top);
  return top * std::sqrt(sum);
}

static Status eval(Eval& e) {
  Class c;
  if (class_of(e.in(0).type(), is_wide(e), c) && c == Class::f64)
    return eval_reduce<1u << unsigned(Class::f64)>(e, [](std::span<const double> x) { return length_of(x); });
  return eval_fold<kIntClasses | 1u << unsigned(Class::f32)>(
      e, kNoSum, [](auto sum, auto v) { return wrap_add(sum, wrap_mul(decltype(sum)(v), decltype(sum)(v))); },
      [](auto zero, auto sum, size_t) {
        using T = decltype(zero);
        const double length = std::sqrt(double(sum));
        if constexpr (std::is_integral_v<T>)
          return cut_off<T>(length);
        else
          return T(length);
      });
}

extern const Op op = {
    .name = "ReduceL2",
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

}  // namespace sx::ops::reducel2
