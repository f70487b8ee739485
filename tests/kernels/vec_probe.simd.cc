// SPDX-License-Identifier: Apache-2.0
// Carries the vector vocabulary over arrays, so that a test can compare it with scalar mathematics.
#include "kernels/vec.h"

namespace sx::SX_ISA {

// out[i] = operation `op` of (x[i], y[i]); n is a multiple of 16.
void vec_probe(int op, const float* x, const float* y, float* out, size_t n) {
  for (size_t i = 0; i < n; i += kLanes) {
    const Vec a = load(x + i), b = load(y + i);
    Vec r = zero();
    switch (op) {
      case 0: r = floor(a); break;
      case 1: r = ceil(a); break;
      case 2: r = round(a); break;
      case 3: r = min(a, b); break;
      case 4: r = max(a, b); break;
      case 5: r = select(less(a, b), a, b); break;
      case 6: r = select(mask_not(less_equal(a, b)), set1(1.0f), zero()); break;
      case 7: r = select(mask_or(is_nan(a), equal(a, b)), set1(1.0f), zero()); break;
      case 8: r = abs(a); break;
      case 9: r = copysign(a, b); break;
      case 10: r = sqrt(a); break;
      case 11: r = fma(a, b, set1(0.5f)); break;
    }
    store(out + i, r);
  }
}

// The first `part` lanes of x to out, and what reductions make of them; returns the lanes of a vector.
size_t vec_probe_part(const float* x, size_t part, float* out, float* add_max_min) {
  const Vec v = load_part(x, part);
  store_part(out, part, v);
  add_max_min[0] = reduce_add(v);
  add_max_min[1] = reduce_max(v);
  add_max_min[2] = reduce_min(v);
  return kLanes;
}

// to_int, to_int_trunc, and x gathered backwards.
void vec_probe_int(const float* x, int32_t* rounded, int32_t* truncated, float* backwards) {
  const Vec v = load(x);
  store(rounded, to_int(v));
  store(truncated, to_int_trunc(v));
  store(backwards, gather(x, (int32_t)(kLanes - 1) - iota()));
}

}  // namespace sx::SX_ISA
