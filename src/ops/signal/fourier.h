// SPDX-License-Identifier: Apache-2.0
// Fourier: the discrete Fourier transform of one line, in float64.
#pragma once
#include <complex>

#include "base/workspace.h"

namespace sx::ops {

// Powers of two go by halves, other lengths by the sum itself.
class Fourier {
 public:
  Fourier(size_t n, bool inverse);
  void operator()(Workspace<std::complex<double>>& line) const;  // of n elements; the inverse divides by n

 private:
  size_t n_;
  bool inverse_, by_halves_;
  Workspace<std::complex<double>> roots_;  // exp(∓2πi k/n)
};

}  // namespace sx::ops
