// SPDX-License-Identifier: Apache-2.0
// Sums and products of any class; integers wrap around, which plain signed arithmetic must not do.
#pragma once
#include <cstdint>
#include <type_traits>

namespace sx {

template <class T>
T wrap_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) return T(uint64_t(a) + uint64_t(b));
  else return T(a + b);
}

template <class T>
T wrap_mul(T a, T b) {
  if constexpr (std::is_integral_v<T>) return T(uint64_t(a) * uint64_t(b));
  else return T(a * b);
}

}  // namespace sx
