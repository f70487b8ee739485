// SPDX-License-Identifier: Apache-2.0
// Pow: x to the power of y, in the type of x.
#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::pow {

// Wraps around, as repeated multiplication does; a negative power of an integer is cut off.
template <class T>
static T integer_power(T x, T y) {
  if (y < 0) return x == 1 ? T(1) : x == T(-1) ? (y % 2 ? T(-1) : T(1)) : T(0);
  T result = 1;
  for (; y != 0; y /= 2, x = wrap_mul(x, x)) {
    if (y % 2 != 0) result = wrap_mul(result, x);
  }
  return result;
}

static Status eval(Eval& e) {
  const Tensor &x = e.in(0), &y = e.in(1);
  if (dtype_is_integer(x.type()) && dtype_is_integer(y.type())) {
    return map2_as<int64_t>(e, x, y, e.out(0), [](int64_t a, int64_t b) { return integer_power(a, b); });
  }
  if (x.type() != y.type()) {
    return map2_as<double>(e, x, y, e.out(0), [](double a, double b) { return std::pow(a, b); });
  }
  return map2<kFloatClasses>(e, [](auto a, auto b) { return std::pow(a, b); });
}

extern const Op op = {
    .name = "Pow",
    .in = {{"X", "T"}, {"Y", "T1"}},
    .out = {{"Z", "T"}},
    .types = {{"T", kFloats | kIndices}, {"T1", kNumbers}},
    .infer = infer_broadcast,
    .eval = eval,
    .history = {{.since = 15},
                {.since = 13, .types = {{"T1", kOldNumbers}}},
                {.since = 12, .types = {{"T", kOldFloats | kIndices}}},
                {.since = 7, .types = {{"T", kOldFloats}}, .in = {{{"X", "T"}, {"Y", "T"}}}},
                {.since = 1, .attrs = {{kOldAxis, kOldBroadcast}}, .lift = lift_axis_broadcast}},
};

}  // namespace sx::ops::pow
