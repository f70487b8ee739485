// SPDX-License-Identifier: Apache-2.0
// The vector vocabulary: one set of names for every vector level. Only for *.simd.cc files, which CMake
// compiles once per level with SX_ISA = baseline | avx2 | avx512, and which put all they define into
// namespace sx::SX_ISA. Everything here is static and always inlined: an object of a level must define no
// symbol outside its namespace.
//
// Vec holds kLanes floats and VecI kLanes int32; both are compiler vectors, so + - * / & | ^ ~ << >> and
// unary - work on them, also with a scalar on one side, and v[i] reads a lane. Comparisons go through less()
// and friends, which return a Mask.
#pragma once
#include <cstddef>
#include <cstdint>
#if defined(__x86_64__)
// g++ 12 calls the undefined operand of its own unmasked intrinsics uninitialised.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#define SX_INLINE static inline __attribute__((always_inline))
// Before a loop with a constant count that must be unrolled whole (count at most 16).
#define SX_UNROLL _Pragma("GCC unroll 16")

namespace sx::SX_ISA {

#if defined(SX_ISA_avx512)
constexpr size_t kLanes = 16;
#elif defined(SX_ISA_avx2)
constexpr size_t kLanes = 8;
#else
constexpr size_t kLanes = 4;
#endif

typedef float Vec __attribute__((vector_size(4 * kLanes)));
typedef int32_t VecI __attribute__((vector_size(4 * kLanes)));
typedef float VecAnyAddress __attribute__((vector_size(4 * kLanes), aligned(1), may_alias));
typedef int32_t VecIAnyAddress __attribute__((vector_size(4 * kLanes), aligned(1), may_alias));
typedef float FloatAnyAddress __attribute__((aligned(1), may_alias));
typedef int32_t IntAnyAddress __attribute__((aligned(1), may_alias));

#if defined(SX_ISA_avx512)
typedef __mmask16 Mask;  // a bit a lane
#else
typedef VecI Mask;  // all ones or all zeros in each lane
#endif

// Memory. No address needs any alignment.
SX_INLINE Vec load(const float* p) { return *(const VecAnyAddress*)p; }
SX_INLINE VecI load(const int32_t* p) { return *(const VecIAnyAddress*)p; }
SX_INLINE void store(float* p, Vec v) { *(VecAnyAddress*)p = v; }
SX_INLINE void store(int32_t* p, VecI v) { *(VecIAnyAddress*)p = v; }

SX_INLINE Vec zero() { return Vec{}; }
SX_INLINE Vec set1(float x) { return x - Vec{}; }  // x + 0 would lose the sign of -0, and cost an addition
SX_INLINE VecI set1i(int32_t x) { return VecI{} + x; }
SX_INLINE Vec bits_to_float(VecI v) { return (Vec)v; }
SX_INLINE VecI bits_to_int(Vec v) { return (VecI)v; }

// 0, 1, 2, ... kLanes - 1
SX_INLINE VecI iota() {
  VecI v{};
  for (size_t i = 0; i < kLanes; ++i) v[i] = (int32_t)i;
  return v;
}

SX_INLINE VecI shift_right_logical(VecI v, int bits) {
  typedef uint32_t VecU __attribute__((vector_size(4 * kLanes)));
  return (VecI)((VecU)v >> (unsigned)bits);
}
SX_INLINE Vec abs(Vec v) { return (Vec)((VecI)v & 0x7fffffff); }
SX_INLINE Vec copysign(Vec magnitude, Vec sign) {
  return (Vec)(((VecI)magnitude & 0x7fffffff) | ((VecI)sign & (int32_t)0x80000000));
}

// fma: a * b + c, one rounding where the level has the instruction (avx2, avx512), else two.
// min(a, b) = a < b ? a : b and max(a, b) = a > b ? a : b, so that b comes out when either is NaN.
// less, less_equal and equal are false on NaN, not_equal is true; is_nan is not_equal(v, v).
// round: to nearest even. floor, ceil, round keep NaN, infinities and the sign of zero.
// to_int rounds to nearest even, to_int_trunc towards zero; both are undefined outside int32.

#if defined(SX_ISA_avx512)

SX_INLINE Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
SX_INLINE Vec min(Vec a, Vec b) { return _mm512_min_ps(a, b); }
SX_INLINE Vec max(Vec a, Vec b) { return _mm512_max_ps(a, b); }
SX_INLINE VecI min(VecI a, VecI b) { return (VecI)_mm512_min_epi32((__m512i)a, (__m512i)b); }
SX_INLINE VecI max(VecI a, VecI b) { return (VecI)_mm512_max_epi32((__m512i)a, (__m512i)b); }
SX_INLINE Vec sqrt(Vec v) { return _mm512_sqrt_ps(v); }
SX_INLINE Vec round(Vec v) { return _mm512_roundscale_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
SX_INLINE Vec floor(Vec v) { return _mm512_roundscale_ps(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
SX_INLINE Vec ceil(Vec v) { return _mm512_roundscale_ps(v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
SX_INLINE VecI to_int(Vec v) { return (VecI)_mm512_cvtps_epi32(v); }
SX_INLINE VecI to_int_trunc(Vec v) { return (VecI)_mm512_cvttps_epi32(v); }
SX_INLINE Vec to_float(VecI v) { return _mm512_cvtepi32_ps((__m512i)v); }

SX_INLINE Mask less(Vec a, Vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
SX_INLINE Mask less_equal(Vec a, Vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
SX_INLINE Mask equal(Vec a, Vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
SX_INLINE Mask not_equal(Vec a, Vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ); }
SX_INLINE Mask less(VecI a, VecI b) { return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b); }
SX_INLINE Mask equal(VecI a, VecI b) { return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b); }
SX_INLINE Mask mask_and(Mask a, Mask b) { return (Mask)(a & b); }
SX_INLINE Mask mask_or(Mask a, Mask b) { return (Mask)(a | b); }
SX_INLINE Mask mask_not(Mask a) { return (Mask)~a; }
SX_INLINE unsigned mask_bits(Mask m) { return m; }
SX_INLINE Mask first_lanes(size_t n) { return (Mask)((1u << n) - 1u); }
SX_INLINE Vec select(Mask m, Vec yes, Vec no) { return _mm512_mask_blend_ps(m, no, yes); }
SX_INLINE VecI select(Mask m, VecI yes, VecI no) {
  return (VecI)_mm512_mask_blend_epi32(m, (__m512i)no, (__m512i)yes);
}

SX_INLINE Vec load_masked(const float* p, Mask m) { return _mm512_maskz_loadu_ps(m, p); }
SX_INLINE VecI load_masked(const int32_t* p, Mask m) { return (VecI)_mm512_maskz_loadu_epi32(m, p); }
SX_INLINE void store_masked(float* p, Mask m, Vec v) { _mm512_mask_storeu_ps(p, m, v); }
SX_INLINE void store_masked(int32_t* p, Mask m, VecI v) { _mm512_mask_storeu_epi32(p, m, (__m512i)v); }
SX_INLINE Vec gather(const float* base, VecI index) { return _mm512_i32gather_ps((__m512i)index, base, 4); }
SX_INLINE VecI gather(const int32_t* base, VecI index) {
  return (VecI)_mm512_i32gather_epi32((__m512i)index, base, 4);
}

SX_INLINE float reduce_add(Vec v) { return _mm512_reduce_add_ps(v); }
SX_INLINE float reduce_max(Vec v) { return _mm512_reduce_max_ps(v); }
SX_INLINE float reduce_min(Vec v) { return _mm512_reduce_min_ps(v); }

#elif defined(SX_ISA_avx2)

SX_INLINE Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
SX_INLINE Vec min(Vec a, Vec b) { return _mm256_min_ps(a, b); }
SX_INLINE Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
SX_INLINE VecI min(VecI a, VecI b) { return (VecI)_mm256_min_epi32((__m256i)a, (__m256i)b); }
SX_INLINE VecI max(VecI a, VecI b) { return (VecI)_mm256_max_epi32((__m256i)a, (__m256i)b); }
SX_INLINE Vec sqrt(Vec v) { return _mm256_sqrt_ps(v); }
SX_INLINE Vec round(Vec v) { return _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
SX_INLINE Vec floor(Vec v) { return _mm256_round_ps(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
SX_INLINE Vec ceil(Vec v) { return _mm256_round_ps(v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
SX_INLINE VecI to_int(Vec v) { return (VecI)_mm256_cvtps_epi32(v); }
SX_INLINE VecI to_int_trunc(Vec v) { return (VecI)_mm256_cvttps_epi32(v); }
SX_INLINE Vec to_float(VecI v) { return _mm256_cvtepi32_ps((__m256i)v); }

SX_INLINE Mask less(Vec a, Vec b) { return (Mask)_mm256_cmp_ps(a, b, _CMP_LT_OQ); }
SX_INLINE Mask less_equal(Vec a, Vec b) { return (Mask)_mm256_cmp_ps(a, b, _CMP_LE_OQ); }
SX_INLINE Mask equal(Vec a, Vec b) { return (Mask)_mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
SX_INLINE Mask not_equal(Vec a, Vec b) { return (Mask)_mm256_cmp_ps(a, b, _CMP_NEQ_UQ); }
SX_INLINE Mask less(VecI a, VecI b) { return (Mask)_mm256_cmpgt_epi32((__m256i)b, (__m256i)a); }
SX_INLINE Mask equal(VecI a, VecI b) { return (Mask)_mm256_cmpeq_epi32((__m256i)a, (__m256i)b); }
SX_INLINE Mask mask_and(Mask a, Mask b) { return a & b; }
SX_INLINE Mask mask_or(Mask a, Mask b) { return a | b; }
SX_INLINE Mask mask_not(Mask a) { return ~a; }
SX_INLINE unsigned mask_bits(Mask m) { return (unsigned)_mm256_movemask_ps((__m256)m); }
SX_INLINE Mask first_lanes(size_t n) { return less(iota(), set1i((int32_t)n)); }
SX_INLINE Vec select(Mask m, Vec yes, Vec no) { return _mm256_blendv_ps(no, yes, (__m256)m); }
SX_INLINE VecI select(Mask m, VecI yes, VecI no) { return (VecI)select(m, (Vec)yes, (Vec)no); }

SX_INLINE Vec load_masked(const float* p, Mask m) { return _mm256_maskload_ps(p, (__m256i)m); }
SX_INLINE VecI load_masked(const int32_t* p, Mask m) { return (VecI)_mm256_maskload_epi32(p, (__m256i)m); }
SX_INLINE void store_masked(float* p, Mask m, Vec v) { _mm256_maskstore_ps(p, (__m256i)m, v); }
SX_INLINE void store_masked(int32_t* p, Mask m, VecI v) { _mm256_maskstore_epi32(p, (__m256i)m, (__m256i)v); }
SX_INLINE Vec gather(const float* base, VecI index) { return _mm256_i32gather_ps(base, (__m256i)index, 4); }
SX_INLINE VecI gather(const int32_t* base, VecI index) {
  return (VecI)_mm256_i32gather_epi32(base, (__m256i)index, 4);
}

SX_INLINE float reduce_add(Vec v) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
SX_INLINE float reduce_max(Vec v) {
  __m128 s = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
SX_INLINE float reduce_min(Vec v) {
  __m128 s = _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_min_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_min_ss(s, _mm_movehdup_ps(s)));
}

#else  // baseline: SSE2 on x86-64 as the compiler makes it; the same code serves any processor

SX_INLINE Mask less(Vec a, Vec b) { return (Mask)(a < b); }
SX_INLINE Mask less_equal(Vec a, Vec b) { return (Mask)(a <= b); }
SX_INLINE Mask equal(Vec a, Vec b) { return (Mask)(a == b); }
SX_INLINE Mask not_equal(Vec a, Vec b) { return (Mask)(a != b); }
SX_INLINE Mask less(VecI a, VecI b) { return (Mask)(a < b); }
SX_INLINE Mask equal(VecI a, VecI b) { return (Mask)(a == b); }
SX_INLINE Mask mask_and(Mask a, Mask b) { return a & b; }
SX_INLINE Mask mask_or(Mask a, Mask b) { return a | b; }
SX_INLINE Mask mask_not(Mask a) { return ~a; }
SX_INLINE unsigned mask_bits(Mask m) {
  unsigned bits = 0;
  for (size_t i = 0; i < kLanes; ++i) bits |= (unsigned)(m[i] & 1) << i;
  return bits;
}
SX_INLINE Mask first_lanes(size_t n) { return less(iota(), set1i((int32_t)n)); }
SX_INLINE VecI select(Mask m, VecI yes, VecI no) { return (yes & m) | (no & ~m); }
SX_INLINE Vec select(Mask m, Vec yes, Vec no) { return (Vec)select(m, (VecI)yes, (VecI)no); }

SX_INLINE Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
SX_INLINE Vec min(Vec a, Vec b) { return select(less(a, b), a, b); }
SX_INLINE Vec max(Vec a, Vec b) { return select(less(b, a), a, b); }
SX_INLINE VecI min(VecI a, VecI b) { return select(less(a, b), a, b); }
SX_INLINE VecI max(VecI a, VecI b) { return select(less(b, a), a, b); }
SX_INLINE Vec sqrt(Vec v) {
  Vec r{};
  for (size_t i = 0; i < kLanes; ++i) r[i] = __builtin_sqrtf(v[i]);
  return r;
}
// 2^23 added and taken away again leaves the integer nearest to a number below 2^23.
SX_INLINE Vec round(Vec v) {
  const Vec big = copysign(set1(8388608.0f), v);
  return select(less(abs(v), set1(8388608.0f)), copysign((v + big) - big, v), v);
}
SX_INLINE Vec floor(Vec v) {
  const Vec r = round(v);
  return copysign(select(less(v, r), r - 1.0f, r), v);
}
SX_INLINE Vec ceil(Vec v) {
  const Vec r = round(v);
  return copysign(select(less(r, v), r + 1.0f, r), v);
}
SX_INLINE VecI to_int_trunc(Vec v) { return __builtin_convertvector(v, VecI); }
SX_INLINE VecI to_int(Vec v) { return to_int_trunc(round(v)); }
SX_INLINE Vec to_float(VecI v) { return __builtin_convertvector(v, Vec); }

SX_INLINE Vec load_masked(const float* p, Mask m) {
  const FloatAnyAddress* from = (const FloatAnyAddress*)p;
  Vec v{};
  for (size_t i = 0; i < kLanes; ++i)
    if (m[i]) v[i] = from[i];
  return v;
}
SX_INLINE VecI load_masked(const int32_t* p, Mask m) {
  const IntAnyAddress* from = (const IntAnyAddress*)p;
  VecI v{};
  for (size_t i = 0; i < kLanes; ++i)
    if (m[i]) v[i] = from[i];
  return v;
}
SX_INLINE void store_masked(float* p, Mask m, Vec v) {
  FloatAnyAddress* to = (FloatAnyAddress*)p;
  for (size_t i = 0; i < kLanes; ++i)
    if (m[i]) to[i] = v[i];
}
SX_INLINE void store_masked(int32_t* p, Mask m, VecI v) {
  IntAnyAddress* to = (IntAnyAddress*)p;
  for (size_t i = 0; i < kLanes; ++i)
    if (m[i]) to[i] = v[i];
}
SX_INLINE Vec gather(const float* base, VecI index) {
  Vec v{};
  for (size_t i = 0; i < kLanes; ++i) v[i] = base[index[i]];
  return v;
}
SX_INLINE VecI gather(const int32_t* base, VecI index) {
  VecI v{};
  for (size_t i = 0; i < kLanes; ++i) v[i] = base[index[i]];
  return v;
}

SX_INLINE float reduce_add(Vec v) { return (v[0] + v[2]) + (v[1] + v[3]); }
SX_INLINE float reduce_max(Vec v) {
  const float a = v[0] > v[2] ? v[0] : v[2], b = v[1] > v[3] ? v[1] : v[3];
  return a > b ? a : b;
}
SX_INLINE float reduce_min(Vec v) {
  const float a = v[0] < v[2] ? v[0] : v[2], b = v[1] < v[3] ? v[1] : v[3];
  return a < b ? a : b;
}

#endif

SX_INLINE bool any(Mask m) { return mask_bits(m) != 0; }
SX_INLINE bool all(Mask m) { return mask_bits(m) == (1u << kLanes) - 1u; }
SX_INLINE Mask is_nan(Vec v) { return not_equal(v, v); }

// The first n lanes (0 <= n <= kLanes); the others read as zero and are not written. Memory beyond is
// untouched.
SX_INLINE Vec load_part(const float* p, size_t n) { return load_masked(p, first_lanes(n)); }
SX_INLINE VecI load_part(const int32_t* p, size_t n) { return load_masked(p, first_lanes(n)); }
SX_INLINE void store_part(float* p, size_t n, Vec v) { store_masked(p, first_lanes(n), v); }
SX_INLINE void store_part(int32_t* p, size_t n, VecI v) { store_masked(p, first_lanes(n), v); }

}  // namespace sx::SX_ISA
