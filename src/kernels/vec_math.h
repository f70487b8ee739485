// SPDX-License-Identifier: Apache-2.0
// Elementary functions on Vec, for *.simd.cc files. Relative error against the exact value is at most 2 ulp
// for exp, log, expm1, sqrt, pow, sin, cos, and 3 ulp for tanh, sigmoid, erf, log1p, softplus; infinities,
// NaN, overflow and (unless said otherwise) gradual underflow come out as IEEE 754 users expect. Polynomials
// are minimax fits of our own.
#pragma once
#include "kernels/vec.h"

namespace sx::SX_ISA {

constexpr float kLog2e = 1.44269504f;
constexpr float kLn2Hi = 0.693359375f;  // nine bits: times an exponent it is exact
constexpr float kLn2Lo = -2.12194440e-4f;
constexpr float kInf = __builtin_inff();

// a where a > b or either is NaN, and so on: the NaN of x survives a clamp.
SX_INLINE Vec clamp_keep_nan(Vec x, float lo, float hi) { return min(set1(hi), max(set1(lo), x)); }

// v * 2^n, right also where the result is subnormal; -252 <= n <= 254.
SX_INLINE Vec scale_by_power(Vec v, VecI n) {
#if defined(SX_ISA_avx512)
  return _mm512_scalef_ps(v, to_float(n));
#else
  const VecI half = n >> 1;
  return v * bits_to_float((half + 127) << 23) * bits_to_float((n - half + 127) << 23);
#endif
}

// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
SX_INLINE Vec exp_tail(Vec r) {
  Vec p = set1(0x1.6d7230p-10f);
  p = fma(p, r, set1(0x1.12280cp-7f));
  p = fma(p, r, set1(0x1.5554c8p-5f));
  p = fma(p, r, set1(0x1.5554b0p-3f));
  return fma(p, r, set1(0.5f));
}

// x = n ln(2) + r
SX_INLINE Vec exp_reduce(Vec x, Vec n) { return fma(n, set1(-kLn2Lo), fma(n, set1(-kLn2Hi), x)); }

SX_INLINE Vec exp(Vec x) {
  x = clamp_keep_nan(x, -104.0f, 89.0f);
  const Vec n = round(x * kLog2e), r = exp_reduce(x, n);
  return scale_by_power(fma(r * r, exp_tail(r), r) + 1.0f, to_int(n));
}

// exp for x <= 0 (the common half of softmax and sigmoid); results below 2^-126 become zero, so that masked
// entries never cost a subnormal operation.
SX_INLINE Vec exp_nonpositive(Vec x) {
  const Vec least = set1(-87.33654f);
  const Mask gone = less(x, least);
  x = max(least, x);
  const Vec n = round(x * kLog2e), r = exp_reduce(x, n);
  const Vec p = fma(r * r, exp_tail(r), r) + 1.0f;
#if defined(SX_ISA_avx512)
  return _mm512_maskz_scalef_ps(mask_not(gone), p, n);
#else
  return p * select(gone, zero(), bits_to_float((to_int(n) + 127) << 23));
#endif
}

// e^x - 1 for x <= 88.
SX_INLINE Vec expm1(Vec x) {
  x = clamp_keep_nan(x, -30.0f, 88.0f);
  const Vec n = round(x * kLog2e), r = exp_reduce(x, n);
  const Vec q = fma(r * r, exp_tail(r), r), s = bits_to_float((to_int(n) + 127) << 23);
  return fma(s, q, s - 1.0f);
}

// e^x - 1 for any x.
SX_INLINE Vec expm1_any(Vec x) { return select(less(set1(80.0f), x), exp(x), expm1(x)); }

SX_INLINE Vec log(Vec x) {
  const Mask tiny = less(x, set1(0x1p-126f));
  const VecI bits = bits_to_int(select(tiny, x * 0x1p23f, x));
  const VecI above = bits - 0x3f3504f3;  // the bits of sqrt(1/2)
  const Vec e = to_float(above >> 23) + select(tiny, set1(-23.0f), zero());
  const Vec f = bits_to_float((above & 0x7fffff) + 0x3f3504f3) - 1.0f;
  Vec p = set1(0x1.1b4cf4p-4f);
  p = fma(p, f, set1(-0x1.e2f1b0p-4f));
  p = fma(p, f, set1(0x1.e65054p-4f));
  p = fma(p, f, set1(-0x1.fb4244p-4f));
  p = fma(p, f, set1(0x1.2332c8p-3f));
  p = fma(p, f, set1(-0x1.5562e6p-3f));
  p = fma(p, f, set1(0x1.99a544p-3f));
  p = fma(p, f, set1(-0x1.ffffeep-3f));
  p = fma(p, f, set1(0x1.555546p-2f));
  const Vec f2 = f * f;
  Vec y = fma(f2, f * p - 0.5f, e * kLn2Lo);
  y = fma(e, set1(kLn2Hi), f + y);
  y = select(equal(x, zero()), set1(-kInf), y);
  y = select(less(x, zero()), set1(__builtin_nanf("")), y);
  return select(less(x, set1(kInf)), y, x + (y - y));  // +inf and NaN as they came
}

// log(1 + x) for x >= -1.
SX_INLINE Vec log1p(Vec x) {
  const Vec u = x + 1.0f;
  const Vec lost = select(less(u, set1(kInf)), x - (u - 1.0f), zero());
  return log(u) + select(equal(u, zero()), zero(), lost / u);
}

SX_INLINE Vec tanh(Vec x) {
  const Vec t = expm1(2.0f * min(set1(9.5f), abs(x)));
  return copysign(t / (t + 2.0f), x);
}

// Below -87.3 the result is zero.
SX_INLINE Vec sigmoid(Vec x) {
  const Vec z = exp_nonpositive(-abs(x));
  return select(less(x, zero()), z, set1(1.0f)) / (z + 1.0f);
}

SX_INLINE Vec erf(Vec x) {
  const Vec a = min(set1(4.0f), abs(x)), a2 = a * a;
  Vec p = set1(-0x1.38742ep-11f);
  p = fma(p, a2, set1(0x1.46d9e4p-8f));
  p = fma(p, a2, set1(-0x1.b67c04p-6f));
  p = fma(p, a2, set1(0x1.ce1986p-4f));
  p = fma(p, a2, set1(-0x1.8126e2p-2f));
  p = fma(p, a2, set1(0x1.06eba6p-3f));
  Vec q = set1(0x1.98d268p-13f);  // log(1 - erf(a)) for a >= 0.92
  q = fma(q, a, set1(-0x1.8da0ccp-9f));
  q = fma(q, a, set1(0x1.6b8e64p-6f));
  q = fma(q, a, set1(-0x1.a9653ap-4f));
  q = fma(q, a, set1(-0x1.4647b4p-1f));
  q = fma(q, a, set1(-0x1.20ac30p+0f));
  q = fma(q, a, set1(-0x1.b225ccp-13f));
  const Vec near = fma(a, p, a), far = 1.0f - exp_nonpositive(q);
  return copysign(select(less(a, set1(0.92f)), near, far), x);
}

SX_INLINE Vec softplus(Vec x) { return max(zero(), x) + log1p(exp_nonpositive(-abs(x))); }

// Where float is not enough, half of the lanes at a time in double.
typedef double VecD __attribute__((vector_size(4 * kLanes)));
typedef int64_t VecL __attribute__((vector_size(4 * kLanes)));
typedef uint64_t VecUL __attribute__((vector_size(4 * kLanes)));
typedef float HalfVec __attribute__((vector_size(2 * kLanes)));
typedef int32_t HalfVecI __attribute__((vector_size(2 * kLanes)));
union Halves {
  Vec v;
  HalfVec half[2];
};
union HalvesI {
  VecI v;
  HalfVecI half[2];
};
constexpr double kRoundMagic = 0x1.8p52;  // adding it leaves the nearest integer in the low bits

SX_INLINE VecD log2_d(VecD x) {  // x normal and positive
  const int64_t root = 0x3fe6a09e667f3bcd;
  const VecL above = (VecL)x - root + (int64_t)0x3ff0000000000000;
  const VecD e = (VecD)(((VecUL)above >> 52) | (uint64_t)0x4330000000000000) - (0x1p52 + 1023.0);
  const VecD m = (VecD)((above & (int64_t)0x000fffffffffffff) + root);
  const VecD s = (m - 1.0) / (m + 1.0), z = s * s;
  VecD p = z * 0x1.8c0c3b4f70738p-6 + 0x1.1f9bbfdc111c4p-2;
  p = p * z + 0x1.47a5d7fe775cfp-2;
  p = p * z + 0x1.a619f4be0c17bp-2;
  p = p * z + 0x1.2776c2bd09ce3p-1;
  p = p * z + 0x1.ec709dc52ec15p-1;
  p = p * z + 0x1.71547652b823cp+1;
  return e + s * p;
}

SX_INLINE VecD exp2_d(VecD t) {  // |t| <= 1000
  const VecD k = t + kRoundMagic, f = t - (k - kRoundMagic);
  VecD p = f * 0x1.640dff170ec51p-20 + 0x1.00dc4c06d58f0p-16;
  p = p * f + 0x1.43086fb92dd39p-13;
  p = p * f + 0x1.5d8745a42ec36p-10;
  p = p * f + 0x1.3b2ab73e1ef35p-7;
  p = p * f + 0x1.c6b08dd7001b4p-5;
  p = p * f + 0x1.ebfbdff8055fdp-3;
  p = p * f + 0x1.62e42fef84cd8p-1;
  p = p * f + 0x1.000000000007ap+0;
  return (VecD)((VecL)p + ((VecL)k << 52));
}

SX_INLINE Vec pow(Vec x, Vec y) {
  const Vec a = abs(x);
  const Mask base_zero = equal(a, zero()), base_inf = equal(a, set1(kInf)), y_negative = less(y, zero());
  Halves ha, hy, r;
  ha.v = select(mask_or(base_zero, base_inf), set1(2.0f), a);
  hy.v = clamp_keep_nan(y, -3e38f, 3e38f);
  for (int i = 0; i < 2; ++i) {
    const VecD t =
        log2_d(__builtin_convertvector(ha.half[i], VecD)) * __builtin_convertvector(hy.half[i], VecD);
    const VecD low = t < -200.0 ? VecD{} - 200.0 : t;
    r.half[i] = __builtin_convertvector(exp2_d(low > 200.0 ? VecD{} + 200.0 : low), HalfVec);
  }
  const Mask odd = mask_and(equal(floor(y), y), not_equal(floor(y * 0.5f), y * 0.5f));
  Vec v = r.v;
  v = select(base_zero, select(y_negative, set1(kInf), zero()), v);
  v = select(base_inf, select(y_negative, zero(), set1(kInf)), v);
  const Mask x_sign = less(bits_to_int(x), set1i(0));
  v = select(mask_and(x_sign, odd), -v, v);
  const Mask no_root = mask_and(mask_and(less(x, zero()), not_equal(floor(y), y)), mask_not(base_inf));
  v = select(no_root, set1(__builtin_nanf("")), v);
  v = select(mask_or(is_nan(x), is_nan(y)), x + y, v);
  return select(mask_or(equal(x, set1(1.0f)), equal(y, zero())), set1(1.0f), v);
}

extern "C" float sinf(float) noexcept;
extern "C" float cosf(float) noexcept;

// sin for quarter = 0, cos for quarter = 1. Beyond a million the C library does it, a lane at a time.
SX_INLINE Vec sin_shifted(Vec x, int32_t quarter) {
  Halves h, r;
  HalvesI q;
  h.v = x;
  for (int i = 0; i < 2; ++i) {
    const VecD d = __builtin_convertvector(h.half[i], VecD);
    const VecD n = (d * 0x1.45f306dc9c883p-1 + kRoundMagic) - kRoundMagic;
    r.half[i] = __builtin_convertvector((d - n * 0x1.921fb544p+0) - n * 0x1.0b4611a626331p-34, HalfVec);
    q.half[i] = __builtin_convertvector(n, HalfVecI);
  }
  const Vec z = r.v * r.v;
  const VecI turn = q.v + quarter;
  const Vec s =
      fma(fma(fma(set1(-0x1.995492p-13f), z, set1(0x1.11077ap-7f)), z, set1(-0x1.555546p-3f)), z * r.v, r.v);
  const Vec c = fma(fma(fma(set1(0x1.99e0ecp-16f), z, set1(-0x1.6c0c1ap-10f)), z, set1(0x1.55554ap-5f)),
                    z * z, 1.0f - z * 0.5f);
  Vec v = select(equal(turn & 1, set1i(0)), s, c);
  v = bits_to_float(bits_to_int(v) ^ ((turn & 2) << 30));
  const Mask huge = mask_not(less(abs(x), set1(1e6f)));
  if (any(huge)) {
    const unsigned bits = mask_bits(huge);
    for (size_t i = 0; i < kLanes; ++i)
      if (bits >> i & 1) v[i] = quarter ? cosf(x[i]) : sinf(x[i]);
  }
  return v;
}
SX_INLINE Vec sin(Vec x) { return sin_shifted(x, 0); }
SX_INLINE Vec cos(Vec x) { return sin_shifted(x, 1); }

SX_INLINE Vec gelu(Vec x) { return 0.5f * x * (1.0f + erf(x * 0.70710678f)); }
SX_INLINE Vec gelu_tanh(Vec x) { return x * sigmoid(x * fma(x * x, set1(0.0713548163f), set1(1.59576912f))); }
SX_INLINE Vec silu(Vec x) { return x * sigmoid(x); }
// x tanh(softplus(x)), as a ratio in e^x.
SX_INLINE Vec mish(Vec x) {
  const Vec e = exp(min(set1(20.0f), x)), w = e * (e + 2.0f);
  return x * (w / (w + 2.0f));
}

}  // namespace sx::SX_ISA
