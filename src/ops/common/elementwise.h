// SPDX-License-Identifier: Apache-2.0
// What the operators on single elements share: the map engine, and arithmetic that is defined for every
// operand.
#pragma once
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/engine/map.h"

namespace sx::ops {

// Integers wrap around, as two's complement does.
template <class T>
constexpr T wrap_add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(uint64_t(a) + uint64_t(b));
  else
    return a + b;
}
template <class T>
constexpr T wrap_sub(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(uint64_t(a) - uint64_t(b));
  else
    return a - b;
}
template <class T>
constexpr T wrap_mul(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(uint64_t(a) * uint64_t(b));
  else
    return a * b;
}
// Integers: towards zero; by zero: zero.
template <class T>
constexpr T safe_div(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if (b == T(-1)) {
      if constexpr (std::is_signed_v<T>) return wrap_sub(T(0), a);
    }
  }
  return a / b;
}
// NaN stays NaN.
template <class T>
constexpr T clamp(T x, T low, T high) {
  return x < low ? low : x > high ? high : x;
}
template <class T>
constexpr T larger(T a, T b) {
  return a != a || a > b ? a : b;
}
template <class T>
constexpr T smaller(T a, T b) {
  return a != a || a < b ? a : b;
}

}  // namespace sx::ops
