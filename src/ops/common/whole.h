// SPDX-License-Identifier: Apache-2.0
// Results of real arithmetic that are stored as whole numbers.
#pragma once
#include <algorithm>
#include <cmath>

namespace sx::ops {

// Cut off towards zero; but a whole number that rounding missed by a hair is meant.
inline double whole_part(double v) {
  const double near = std::nearbyint(v);
  return std::abs(v - near) <= 1e-9 * std::max(1.0, std::abs(near)) ? near : std::trunc(v);
}

}  // namespace sx::ops
