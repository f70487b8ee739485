// SPDX-License-Identifier: Apache-2.0
// Sums and products of any class; integers wrap around, as two's complement does, where signed arithmetic
// must not.
#pragma once
#include <cstdint>
#include <type_traits>

namespace sx {

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

// A float as a whole number: cut off. Out of range, and NaN, give the least int64, as the usual processors
// do; narrower types take its low bits.
template <class T>
constexpr T cut_off(double v) {
  if (std::is_same_v<T, uint64_t> && v >= 0x1p63 && v < 0x1p64) return T(v);
  return T(v >= -0x1p63 && v < 0x1p63 ? int64_t(v) : INT64_MIN);
}

}  // namespace sx
