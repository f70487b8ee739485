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

}  // namespace sx
