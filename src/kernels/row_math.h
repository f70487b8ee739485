// SPDX-License-Identifier: Apache-2.0
// The passes over a row that softmax and attention share. Only for *.simd.cc files.
#pragma once
#include "kernels/vec_math.h"

namespace sx::SX_ISA {

// y = scale x + mask, and gives the largest; mask may be null. NaN does not count.
SX_INLINE float shift_row(const float* x, float* y, size_t n, float scale, const float* mask) {
  Vec top = set1(-kInf);
  const Vec s = set1(scale);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Vec v = mask ? fma(load(x + i), s, load(mask + i)) : load(x + i) * s;
    store(y + i, v);
    top = max(v, top);
  }
  if (i < n) {
    const size_t rest = n - i;
    const Vec v =
        mask ? fma(load_part(x + i, rest), s, load_part(mask + i, rest)) : load_part(x + i, rest) * s;
    store_part(y + i, rest, v);
    top = max(select(first_lanes(rest), v, top), top);
  }
  return reduce_max(top);
}

SX_INLINE float max_row(const float* x, size_t n) {
  Vec a = set1(-kInf), b = a;
  size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    a = max(load(x + i), a);
    b = max(load(x + i + kLanes), b);
  }
  for (; i + kLanes <= n; i += kLanes) a = max(load(x + i), a);
  if (i < n) b = max(select(first_lanes(n - i), load_part(x + i, n - i), b), b);
  return reduce_max(max(a, b));
}

// y = e^(x - top), unless y is null; gives the sum.
SX_INLINE float exp_row(const float* x, float* y, size_t n, float top) {
  Vec a = zero(), b = zero();
  const Vec t = set1(top);
  size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const Vec p = exp_nonpositive(load(x + i) - t), q = exp_nonpositive(load(x + i + kLanes) - t);
    if (y) store(y + i, p), store(y + i + kLanes, q);
    a = a + p;
    b = b + q;
  }
  for (; i < n; i += kLanes) {
    const size_t rest = n - i < kLanes ? n - i : kLanes;
    const Vec p = select(first_lanes(rest), exp_nonpositive(load_part(x + i, rest) - t), zero());
    if (y) store_part(y + i, rest, p);
    a = a + p;
  }
  return reduce_add(a + b);
}

}  // namespace sx::SX_ISA
