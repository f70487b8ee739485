// SPDX-License-Identifier: Apache-2.0
// How far two values are apart.
#pragma once
#include <string>

#include "tensor/value.h"

namespace sx::tools {

struct Tolerance {
  // |a - b| <= absolute + relative * |b|, as the official runner has it; or |a - b| <= of_largest * max |b|,
  // since an element that is nearly zero beside large ones has no digits of its own.
  double relative = 1e-3, absolute = 1e-7, of_largest = 1e-6;
};

struct Difference {
  bool same = true;
  double of_largest = 0;  // max |a - b| / max |b|
  double absolute = 0;
  std::string what;  // where and how they differ, if they do
};

// Integers, booleans and strings must be equal; NaN equals NaN. Types must be the same unless `any_float`.
Difference compare(const Value& got, const Value& expected, const Tolerance& tolerance,
                   bool any_float = false);

}  // namespace sx::tools
