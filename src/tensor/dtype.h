// SPDX-License-Identifier: Apache-2.0
// DType: the element types of ONNX, with the numbers that the format gives them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sx {

enum class DType : uint8_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  c64 = 14,
  c128 = 15,
  bf16 = 16,
  f8e4m3fn = 17,
  f8e4m3fnuz = 18,
  f8e5m2 = 19,
  f8e5m2fnuz = 20,
  u4 = 21,
  i4 = 22,
  f4e2m1 = 23,
  f8e8m0 = 24,
  u2 = 25,
  i2 = 26,
  f6e2m3 = 27,
  f6e3m2 = 28,
};
inline constexpr int kDTypeCount = 29;

int dtype_bits(DType t);                            // 4 for i4; 0 for string and undefined
size_t dtype_alignment(DType t);                    // of a number, or of a part of a complex one; at least 1
std::string_view dtype_name(DType t);               // "float32", "int4", "string": as people and JSON see it
std::string_view dtype_onnx_name(DType t);          // "FLOAT", "INT4"
std::string_view dtype_short_name(DType t);         // "f32", "i4": as our text tests write it
bool parse_dtype(std::string_view name, DType& t);  // any of the three spellings, and "float", "double" …

bool dtype_is_float(DType t);    // f64, f32, f16, bf16, and the small ones
bool dtype_is_integer(DType t);  // signed or unsigned, without boolean
bool dtype_is_signed(DType t);
bool dtype_is_complex(DType t);
inline bool dtype_is_valid(int n) { return n > 0 && n < kDTypeCount; }

// Bytes that `count` packed elements take (sub-byte types rounded up). False if it does not fit in size_t.
// float6 types are stored one element in a byte, as the format stores them.
bool dtype_bytes(DType t, uint64_t count, size_t& bytes);

// A set of types, for type constraints.
struct DTypeSet {
  uint32_t bits = 0;
  constexpr DTypeSet() = default;
  constexpr explicit DTypeSet(uint32_t b) : bits(b) {}
  template <class... T>
  static constexpr DTypeSet of(T... t) {
    return DTypeSet(((uint32_t(1) << unsigned(t)) | ... | 0u));
  }
  constexpr bool has(DType t) const { return (bits >> unsigned(t)) & 1u; }
  constexpr DTypeSet operator|(DTypeSet o) const { return DTypeSet(bits | o.bits); }
  constexpr DTypeSet operator-(DTypeSet o) const { return DTypeSet(bits & ~o.bits); }
  constexpr bool operator==(const DTypeSet&) const = default;
  constexpr bool empty() const { return bits == 0; }
};

}  // namespace sx
