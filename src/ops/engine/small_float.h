// SPDX-License-Identifier: Apache-2.0
// Floating-point formats of 16 bits and fewer as bit patterns: exact decoding, and encoding from double that
// rounds half to even once.
#pragma once
#include <array>
#include <cstdint>

#include "ops/engine/codec.h"

namespace sx {

struct SmallFloat {
  enum class Special : uint8_t {
    ieee,      // ∞ and NaN in the topmost exponent
    nan_only,  // the topmost code is NaN, no ∞
    fnuz,      // the code of minus zero is NaN, no ∞
    none,      // every code is a number
  };
  int exponent_bits, mantissa_bits, bias;
  Special special;

  constexpr int sign_shift() const { return exponent_bits + mantissa_bits; }
  constexpr uint32_t top() const { return (1u << sign_shift()) - 1; }  // the largest code without its sign
  constexpr uint32_t largest() const {
    if (special == Special::ieee) return top() - (1u << mantissa_bits);
    return special == Special::nan_only ? top() - 1 : top();
  }
  constexpr uint32_t infinity() const { return largest() + 1; }
  constexpr uint32_t nan() const {
    switch (special) {
      case Special::ieee: return infinity() | 1u << (mantissa_bits - 1);
      case Special::nan_only: return top();
      default: return 1u << sign_shift();
    }
  }
};

inline constexpr SmallFloat kHalf{5, 10, 15, SmallFloat::Special::ieee};
inline constexpr SmallFloat kBrain{8, 7, 127, SmallFloat::Special::ieee};
inline constexpr SmallFloat kE4M3FN{4, 3, 7, SmallFloat::Special::nan_only};
inline constexpr SmallFloat kE4M3FNUZ{4, 3, 8, SmallFloat::Special::fnuz};
inline constexpr SmallFloat kE5M2{5, 2, 15, SmallFloat::Special::ieee};
inline constexpr SmallFloat kE5M2FNUZ{5, 2, 16, SmallFloat::Special::fnuz};
inline constexpr SmallFloat kE2M1{2, 1, 1, SmallFloat::Special::none};
inline constexpr SmallFloat kE2M3{2, 3, 1, SmallFloat::Special::none};
inline constexpr SmallFloat kE3M2{3, 2, 3, SmallFloat::Special::none};

constexpr float power_of_two(int e) {
  float v = 1;
  for (; e > 0; --e) v *= 2;
  for (; e < 0; ++e) v *= 0.5f;
  return v;
}

constexpr float decode_small(const SmallFloat& f, uint32_t code) {
  const bool negative = code >> f.sign_shift() & 1u;
  const uint32_t size = code & f.top();
  if (f.special == SmallFloat::Special::fnuz && code == f.nan()) return __builtin_nanf("");
  if (f.special == SmallFloat::Special::nan_only && size == f.top()) return __builtin_nanf("");
  if (f.special == SmallFloat::Special::ieee && size >= f.infinity()) {
    const float v = size == f.infinity() ? __builtin_inff() : __builtin_nanf("");
    return negative ? -v : v;
  }
  const int exponent = int(size >> f.mantissa_bits);
  const int fraction = int(size & ((1u << f.mantissa_bits) - 1));
  const float v = exponent == 0 ? float(fraction) * power_of_two(1 - f.bias - f.mantissa_bits)
                                : float(fraction + (1 << f.mantissa_bits)) *
                                      power_of_two(exponent - f.bias - f.mantissa_bits);
  return negative ? -v : v;
}

// All values of a format of at most 8 bits.
template <const SmallFloat& F>
constexpr std::array<float, 256> decode_table() {
  std::array<float, 256> table{};
  for (uint32_t code = 0; code < (2u << F.sign_shift()); ++code) table[code] = decode_small(F, code);
  return table;
}

inline uint32_t encode_small(const SmallFloat& f, double x, bool saturate) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, 8);
  const bool fnuz = f.special == SmallFloat::Special::fnuz;
  const uint32_t sign = uint32_t(bits >> 63) << f.sign_shift();
  const int exponent = int(bits >> 52 & 0x7ff) - 1023;
  const uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
  if (exponent == 1024 && fraction != 0) {  // formats without NaN have minus zero for it, as ml_dtypes does
    return fnuz || f.special == SmallFloat::Special::none ? 1u << f.sign_shift() : sign | f.nan();
  }
  uint32_t code = f.top() + 1;
  if (exponent < 1024) {
    const int least = 1 - f.bias, used = exponent < least ? least : exponent;
    const int shift = 52 - f.mantissa_bits + (used - exponent);
    uint64_t q = 0;
    if (shift < 64) {
      const uint64_t whole = fraction | uint64_t(1) << 52, half = uint64_t(1) << (shift - 1);
      const uint64_t rest = whole & (2 * half - 1);
      q = (whole >> shift) + (rest > half || (rest == half && (whole >> shift & 1)) ? 1 : 0);
    }
    const uint64_t wide = (uint64_t(used + f.bias - 1) << f.mantissa_bits) + q;
    if (wide <= f.largest()) code = uint32_t(wide);
  }
  if (code > f.largest()) {
    if (saturate || f.special == SmallFloat::Special::none)
      code = f.largest();
    else if (f.special == SmallFloat::Special::ieee)
      code = f.infinity();
    else
      return fnuz ? f.nan() : sign | f.nan();
  }
  return fnuz && code == 0 ? 0 : sign | code;
}

// float8e8m0: powers of two from 2^-127 to 2^127; 255 is NaN.
inline float decode_e8m0(uint8_t code) {
  return code == 255 ? __builtin_nanf("") : float(__builtin_ldexp(1.0, int(code) - 127));
}

inline uint8_t encode_e8m0(double x, const EncodeOptions& options) {
  if (x != x || x < 0) return 255;
  uint64_t bits;
  __builtin_memcpy(&bits, &x, 8);
  if (x == 0 || x < 0x1p-127) return options.saturate ? 0 : 255;
  if (bits == 0x7ff0000000000000) return options.saturate ? 254 : 255;
  int exponent = int(bits >> 52 & 0x7ff) - 1023;
  const uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
  switch (options.e8m0) {
    case Rounding::up: exponent += fraction != 0; break;
    case Rounding::nearest: exponent += fraction >= uint64_t(1) << 51; break;
    case Rounding::down: break;
  }
  if (exponent > 127) return options.saturate ? 254 : 255;
  return uint8_t(exponent + 127);
}

}  // namespace sx
