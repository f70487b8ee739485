// SPDX-License-Identifier: Apache-2.0
// Kernel functions of support vector machines, and probabilities from pairwise scores.
#pragma once
#include <span>
#include <vector>

#include "graph/eval.h"

namespace sx::ops {

// Linear unless the attributes say otherwise.
class SvmKernel {
 public:
  static Result<SvmKernel> of(const Eval& e);
  double operator()(std::span<const double> a, std::span<const double> b) const;

 private:
  enum class Kind : uint8_t { linear, poly, rbf, sigmoid };
  Kind kind_ = Kind::linear;
  double gamma_ = 0, coef0_ = 0, degree_ = 0;
};

// The second method of Wu, Lin and Weng (2004): class probabilities p from pairwise ones r[i·n + j], n
// classes.
std::vector<double> couple_probabilities(std::span<const double> r, size_t n);

}  // namespace sx::ops
