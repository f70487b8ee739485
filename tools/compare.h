// SPDX-License-Identifier: Apache-2.0
// How far two values are apart.
#pragma once
#include <string>

#include "tensor/value.h"

namespace sx::tools {

struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;   // |a - b| <= absolute + relative * |b|, as the official runner has it
  double of_largest = 0;                     // or, where it is not 0: |a - b| <= of_largest * max |b|
};

struct Difference {
  bool same = true;
  double of_largest = 0;                     // max |a - b| / max |b|
  double absolute = 0;
  std::string what;                          // where and how they differ, if they do
};

// Integers, booleans and strings must be equal; NaN equals NaN. Types must be the same unless `any_float`.
Difference compare(const Value& got, const Value& expected, const Tolerance& tolerance, bool any_float = false);

}  // namespace sx::tools
