// SPDX-License-Identifier: Apache-2.0
// Values compared the way that the official suite does: numbers within rtol and atol, the rest exactly.
#pragma once
#include <string>

#include "tensor/value.h"

namespace sx::testing {

struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;
};

// Numbers of any real type as doubles; complex numbers as pairs. False for strings and types that are not
// numbers.
bool as_doubles(const Tensor& t, std::vector<double>& values);

// Empty if they agree; else what differs. `floats_may_differ`: the made value may be float64 where float32
// was meant.
std::string difference(const Value& made, const Value& expected, const Tolerance& tolerance,
                       bool floats_may_differ = false);

}  // namespace sx::testing
