// SPDX-License-Identifier: Apache-2.0
#include "ops/signal/fourier.h"

#include <bit>
#include <cmath>

#include "base/workspace.h"

namespace sx::ops {

using Complex = std::complex<double>;

Fourier::Fourier(size_t n, bool inverse)
    : n_(n), inverse_(inverse), by_halves_(std::has_single_bit(n)), roots_(n) {
  StopCheck<> stop;
  for (size_t k = 0; k < n && !stop(); ++k) {
    const double angle = 2 * 3.14159265358979323846 * double(k) / double(n);
    roots_[k] = {std::cos(angle), inverse ? std::sin(angle) : -std::sin(angle)};
  }
}

void Fourier::operator()(Workspace<Complex>& line) const {
  if (n_ == 0) return;
  StopCheck<> stop;
  if (by_halves_) {
    for (size_t k = 1, to = 0; k < n_ && !stop(); ++k) {  // bits reversed
      size_t bit = n_ >> 1;
      for (; to & bit; bit >>= 1) to ^= bit;
      to ^= bit;
      if (k < to) std::swap(line[k], line[to]);
    }
    for (size_t half = 1; half < n_ && !stop(); half *= 2) {
      const size_t step = n_ / (2 * half);
      for (size_t start = 0; start < n_ && !stop(); start += 2 * half) {
        for (size_t k = 0; k < half && !stop(); ++k) {
          const Complex a = line[start + k], b = line[start + half + k] * roots_[k * step];
          line[start + k] = a + b;
          line[start + half + k] = a - b;
        }
      }
    }
  } else {
    Workspace<Complex> sums(n_);
    for (size_t k = 0; k < n_ && !stop(); ++k) {
      Complex sum = 0;
      for (size_t j = 0, at = 0; j < n_ && !stop(); ++j, at = at + k >= n_ ? at + k - n_ : at + k)
        sum += line[j] * roots_[at];
      sums[k] = sum;
    }
    line = std::move(sums);
  }
  if (inverse_) {
    for (Complex& v : stoppable(line)) v /= double(n_);
  }
}

}  // namespace sx::ops
