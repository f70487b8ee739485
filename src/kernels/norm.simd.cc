// SPDX-License-Identifier: Apache-2.0
// Moments of a row and their application.
#include "base/stop.h"
#include "kernels/vec.h"

namespace sx::SX_ISA {
namespace {

constexpr size_t kPerLook = 256 * 1024;  // elements between looks at the stop flag

// f(v, i, count) for each vector of a row; lanes beyond count are zero.
template <class F>
SX_INLINE void vectors(size_t n, F f) {
  size_t i = 0;
  for (size_t end = n; i + kLanes <= n; i = end) {
    if (i > 0 && stop_requested()) return;
    end = n - i < kPerLook ? n / kLanes * kLanes : i + kPerLook;
    for (size_t k = i; k < end; k += kLanes) f(k, kLanes);
  }
  if (i < n) f(i, n - i);
}
SX_INLINE Vec get(const float* p, size_t k) { return k == kLanes ? load(p) : load_part(p, k); }
SX_INLINE void put(float* p, size_t k, Vec v) { k == kLanes ? store(p, v) : store_part(p, k, v); }

// Sums of blocks of 4096 go on in double, so that long rows lose nothing.
template <class F>
SX_INLINE double block_sums(const float* x, size_t n, F f) {
  double total = 0;
  for (size_t at = 0; at < n; at += 4096) {
    if (at % kPerLook == kPerLook - 4096 && stop_requested()) break;
    const size_t m = n - at < 4096 ? n - at : 4096;
    const float* p = x + at;
    Vec a = zero(), b = zero(), c = zero(), d = zero();
    size_t i = 0;
    for (; i + 4 * kLanes <= m; i += 4 * kLanes) {
      a = a + f(load(p + i));
      b = b + f(load(p + i + kLanes));
      c = c + f(load(p + i + 2 * kLanes));
      d = d + f(load(p + i + 3 * kLanes));
    }
    for (; i + kLanes <= m; i += kLanes) a = a + f(load(p + i));
    if (i < m) b = b + select(first_lanes(m - i), f(load_part(p + i, m - i)), zero());
    total += (double)reduce_add((a + b) + (c + d));
  }
  return total;
}

// Mean and sum of squares of numbers that float cannot square or add up.
SX_INLINE void wide_moments(const float* x, size_t n, bool rms, double* mean, double* squares) {
  const auto sum_of = [&](auto f) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
      if (i % kPerLook == kPerLook - 1 && stop_requested()) break;
      sum += f((double)x[i]);
    }
    return sum;
  };
  const double middle = rms ? 0.0 : sum_of([](double v) { return v; }) / (double)n;
  *squares = sum_of([&](double v) { return (v - middle) * (v - middle); });
  *mean = middle;
}

}  // namespace

// y[i] = x[i] + r[i]
void add_rows(const float* x, const float* r, float* y, size_t n) {
  vectors(n, [&](size_t i, size_t k) { put(y + i, k, get(x + i, k) + get(r + i, k)); });
}

void row_moments(const float* x, size_t n, float epsilon, bool rms, double* mean, float* inv_std) {
  if (n == 0) return (void)(*mean = rms ? 0.0 : __builtin_nan(""), *inv_std = __builtin_nanf(""));
  // Seen from the first element, a large offset common to the row costs no digits.
  const Vec pivot = set1(*x);
  *mean = rms ? 0.0 : (double)*x + block_sums(x, n, [&](Vec v) { return v - pivot; }) / (double)n;
  const Vec vm = set1((float)*mean);
  double squares = block_sums(x, n, [&](Vec v) { return (v - vm) * (v - vm); });
  if (!(squares <= __DBL_MAX__)) wide_moments(x, n, rms, mean, &squares);
  *inv_std = (float)(1.0 / __builtin_sqrt(squares / (double)n + (double)epsilon));
}

// y = (x - mean) inv_std scale + bias; scale and bias may be null. What float cannot hold of the mean counts
// too.
void row_normalise(const float* x, double mean, float inv_std, const float* scale, const float* bias,
                   float* y, size_t n) {
  const Vec m = set1((float)mean), s = set1(inv_std), t = set1((float)((double)(float)mean - mean) * inv_std);
  if (scale && bias)
    vectors(n, [&](size_t i, size_t k) {
      put(y + i, k, fma(fma(get(x + i, k) - m, s, t), get(scale + i, k), get(bias + i, k)));
    });
  else
    vectors(n, [&](size_t i, size_t k) {
      Vec v = fma(get(x + i, k) - m, s, t);
      if (scale) v = v * get(scale + i, k);
      if (bias) v = v + get(bias + i, k);
      put(y + i, k, v);
    });
}

// y = x scale + shift
void row_affine(const float* x, float scale, float shift, float* y, size_t n) {
  const Vec s = set1(scale), t = set1(shift);
  vectors(n, [&](size_t i, size_t k) { put(y + i, k, fma(get(x + i, k), s, t)); });
}

// y = x scale + shift, each a row: channels that are the last dimension.
void row_affine_each(const float* x, const float* scale, const float* shift, float* y, size_t n) {
  vectors(n, [&](size_t i, size_t k) {
    put(y + i, k, fma(get(x + i, k), get(scale + i, k), get(shift + i, k)));
  });
}

}  // namespace sx::SX_ISA
