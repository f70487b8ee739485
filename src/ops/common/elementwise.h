// SPDX-License-Identifier: Apache-2.0
// What the operators on single elements share: the map engine, and arithmetic that is defined for every
// operand.
#pragma once
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/engine/map.h"
#include "ops/engine/wrap.h"

namespace sx::ops {

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
