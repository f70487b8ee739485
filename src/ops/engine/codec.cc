// SPDX-License-Identifier: Apache-2.0
#include "ops/engine/codec.h"

#include "base/task.h"
#include "graph/op.h"
#include "ops/engine/small_float.h"
#include "ops/engine/wrap.h"

namespace sx {
namespace {

template <class T>
inline constexpr bool kIsComplex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;

template <class To, class From>
To convert(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (kIsComplex<To> && kIsComplex<From>) {
    return To(static_cast<typename To::value_type>(v.real()), static_cast<typename To::value_type>(v.imag()));
  } else if constexpr (kIsComplex<From>) {
    return convert<To>(v.real());
  } else if constexpr (kIsComplex<To>) {
    return To(static_cast<typename To::value_type>(v));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return cut_off<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

// As a double that rounds into any narrower float as the number itself would: low bits of long integers are
// gathered into one sticky bit.
template <class T>
double to_double(T v) {
  if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, uint64_t>) {
    const bool negative = std::is_signed_v<T> && v < T(0);
    uint64_t size = negative ? 0 - uint64_t(v) : uint64_t(v);
    if (size >> 53) size = (size & ~uint64_t(0xfff)) | (size & 0xfff ? 0x800 : 0);
    return negative ? -double(size) : double(size);
  } else {
    return convert<double>(v);
  }
}

template <class S>
S load(const void* data, int64_t i) {
  S s;
  __builtin_memcpy(&s, static_cast<const char*>(data) + i * int64_t(sizeof(S)), sizeof(S));
  return s;
}
template <class S>
void store(void* data, int64_t i, S s) {
  __builtin_memcpy(static_cast<char*>(data) + i * int64_t(sizeof(S)), &s, sizeof(S));
}

template <int Bits>
uint32_t load_bits(const void* data, int64_t i) {
  constexpr int kPer = 8 / Bits;
  return static_cast<const uint8_t*>(data)[i / kPer] >> (i % kPer * Bits) & ((1u << Bits) - 1);
}
template <int Bits>
void store_bits(void* data, int64_t i, uint32_t v) {
  constexpr int kPer = 8 / Bits;
  constexpr uint32_t kMask = (1u << Bits) - 1;
  uint8_t& byte = static_cast<uint8_t*>(data)[i / kPer];
  const int shift = int(i % kPer) * Bits;
  byte = uint8_t((byte & ~(kMask << shift)) | (v & kMask) << shift);
}
template <int Bits>
int64_t sign_extend(uint32_t v) {
  return int64_t(v ^ (1u << (Bits - 1))) - (int64_t(1) << (Bits - 1));
}

template <const SmallFloat& F>
float small_value(uint8_t code) {
  static constexpr std::array<float, 256> kTable = decode_table<F>();
  return kTable[code];
}

float half_value(uint16_t h) {
  const uint32_t sign = uint32_t(h & 0x8000) << 16, size = h & 0x7fff;
  uint32_t bits = (size << 13) + (uint32_t(127 - 15) << 23);
  if (size >= 0x7c00) bits = 0x7f800000 | size << 13;
  float v;
  if (size < 0x0400) {
    v = float(size) * 0x1p-24f;
    __builtin_memcpy(&bits, &v, 4);
  }
  bits |= sign;
  __builtin_memcpy(&v, &bits, 4);
  return v;
}

float brain_value(uint16_t h) {
  const uint32_t bits = uint32_t(h) << 16;
  float v;
  __builtin_memcpy(&v, &bits, 4);
  return v;
}

template <class S, class T>
void decode_plain(const void* data, int64_t first, int64_t stride, size_t n, T* to) {
  if (std::is_same_v<S, T> && stride == 1) {
    __builtin_memcpy(to, static_cast<const char*>(data) + first * int64_t(sizeof(S)), n * sizeof(S));
  } else if (stride == 1) {
    for (size_t k = 0; k < n; ++k) to[k] = convert<T>(load<S>(data, first + int64_t(k)));
  } else {
    for (size_t k = 0; k < n; ++k) to[k] = convert<T>(load<S>(data, first + int64_t(k) * stride));
  }
}

template <class T, class F>
void decode_by(int64_t first, int64_t stride, size_t n, T* to, F value) {
  for (size_t k = 0; k < n; ++k) to[k] = convert<T>(value(first + int64_t(k) * stride));
}

template <class T>
void decode_small_type(DType type, const void* data, int64_t first, int64_t stride, size_t n, T* to) {
  auto byte = [data](int64_t i) { return static_cast<const uint8_t*>(data)[i]; };
  auto each = [&](auto value) { decode_by(first, stride, n, to, value); };
  switch (type) {
    case DType::f16: each([&](int64_t i) { return half_value(load<uint16_t>(data, i)); }); break;
    case DType::bf16: each([&](int64_t i) { return brain_value(load<uint16_t>(data, i)); }); break;
    case DType::f8e4m3fn: each([&](int64_t i) { return small_value<kE4M3FN>(byte(i)); }); break;
    case DType::f8e4m3fnuz: each([&](int64_t i) { return small_value<kE4M3FNUZ>(byte(i)); }); break;
    case DType::f8e5m2: each([&](int64_t i) { return small_value<kE5M2>(byte(i)); }); break;
    case DType::f8e5m2fnuz: each([&](int64_t i) { return small_value<kE5M2FNUZ>(byte(i)); }); break;
    case DType::f8e8m0: each([&](int64_t i) { return decode_e8m0(byte(i)); }); break;
    case DType::f6e2m3: each([&](int64_t i) { return small_value<kE2M3>(byte(i) & 63); }); break;
    case DType::f6e3m2: each([&](int64_t i) { return small_value<kE3M2>(byte(i) & 63); }); break;
    case DType::f4e2m1:
      each([&](int64_t i) { return small_value<kE2M1>(uint8_t(load_bits<4>(data, i))); });
      break;
    case DType::u4: each([&](int64_t i) { return load_bits<4>(data, i); }); break;
    case DType::i4: each([&](int64_t i) { return sign_extend<4>(load_bits<4>(data, i)); }); break;
    case DType::u2: each([&](int64_t i) { return load_bits<2>(data, i); }); break;
    case DType::i2: each([&](int64_t i) { return sign_extend<2>(load_bits<2>(data, i)); }); break;
    case DType::boolean: each([&](int64_t i) { return uint32_t(byte(i) != 0); }); break;
    default: break;
  }
}

template <class S, class T>
void encode_plain(const T* from, size_t n, void* data, int64_t first, int64_t stride) {
  for (size_t k = 0; k < n; ++k) store<S>(data, first + int64_t(k) * stride, convert<S>(from[k]));
}

template <class T>
void encode_small_type(const T* from, size_t n, DType type, void* data, int64_t first, int64_t stride,
                       const EncodeOptions& options) {
  auto each = [&](auto write) {
    for (size_t k = 0; k < n; ++k) write(first + int64_t(k) * stride, from[k]);
  };
  auto small = [&](const SmallFloat& f, T v, bool saturate) {
    return encode_small(f, to_double(v), saturate);
  };
  auto eight = [&](const SmallFloat& f) {
    each([&](int64_t i, T v) { store<uint8_t>(data, i, uint8_t(small(f, v, options.saturate))); });
  };
  switch (type) {
    case DType::f16:
      each([&](int64_t i, T v) { store<uint16_t>(data, i, uint16_t(small(kHalf, v, false))); });
      break;
    case DType::bf16:
      each([&](int64_t i, T v) { store<uint16_t>(data, i, uint16_t(small(kBrain, v, false))); });
      break;
    case DType::f8e4m3fn: eight(kE4M3FN); break;
    case DType::f8e4m3fnuz: eight(kE4M3FNUZ); break;
    case DType::f8e5m2: eight(kE5M2); break;
    case DType::f8e5m2fnuz: eight(kE5M2FNUZ); break;
    case DType::f6e2m3: eight(kE2M3); break;
    case DType::f6e3m2: eight(kE3M2); break;
    case DType::f8e8m0:
      each([&](int64_t i, T v) { store(data, i, encode_e8m0(to_double(v), options)); });
      break;
    case DType::f4e2m1: each([&](int64_t i, T v) { store_bits<4>(data, i, small(kE2M1, v, true)); }); break;
    case DType::u4:
    case DType::i4:
      each([&](int64_t i, T v) { store_bits<4>(data, i, uint32_t(convert<int64_t>(v))); });
      break;
    case DType::u2:
    case DType::i2:
      each([&](int64_t i, T v) { store_bits<2>(data, i, uint32_t(convert<int64_t>(v))); });
      break;
    case DType::boolean: each([&](int64_t i, T v) { store<uint8_t>(data, i, v != T(0)); }); break;
    default: break;
  }
}

// Calls f with a null pointer to the class's type.
template <class F>
void by_class(Class c, F f) {
  switch (c) {
    case Class::f32: f(static_cast<float*>(nullptr)); break;
    case Class::f64: f(static_cast<double*>(nullptr)); break;
    case Class::i64: f(static_cast<int64_t*>(nullptr)); break;
    case Class::u64: f(static_cast<uint64_t*>(nullptr)); break;
    case Class::c64: f(static_cast<complex64*>(nullptr)); break;
    case Class::c128: f(static_cast<complex128*>(nullptr)); break;
    case Class::boolean: break;
  }
}

}  // namespace

bool class_of(DType type, bool wide, Class& c) {
  if (type == DType::f64)
    c = Class::f64;
  else if (dtype_is_float(type))
    c = wide ? Class::f64 : Class::f32;
  else if (type == DType::boolean)
    c = Class::u64;
  else if (dtype_is_integer(type))
    c = dtype_is_signed(type) ? Class::i64 : Class::u64;
  else if (type == DType::c64)
    c = wide ? Class::c128 : Class::c64;
  else if (type == DType::c128)
    c = Class::c128;
  else
    return false;
  return true;
}

// Long runs in pieces, so that somebody may stop them: f(where the piece begins, how long it is).
template <class F>
static void in_pieces(size_t n, F f) {
  constexpr size_t kPiece = 64 * 1024;  // a multiple of what any byte holds
  for (size_t at = 0; at < n && (at == 0 || !stop_requested()); at += kPiece) f(at, std::min(kPiece, n - at));
}

template <class T>
static void decode_piece(DType type, const void* data, int64_t first, int64_t stride, size_t n, T* to) {
  switch (type) {
    case DType::f32: return decode_plain<float>(data, first, stride, n, to);
    case DType::f64: return decode_plain<double>(data, first, stride, n, to);
    case DType::u8: return decode_plain<uint8_t>(data, first, stride, n, to);
    case DType::i8: return decode_plain<int8_t>(data, first, stride, n, to);
    case DType::u16: return decode_plain<uint16_t>(data, first, stride, n, to);
    case DType::i16: return decode_plain<int16_t>(data, first, stride, n, to);
    case DType::u32: return decode_plain<uint32_t>(data, first, stride, n, to);
    case DType::i32: return decode_plain<int32_t>(data, first, stride, n, to);
    case DType::u64: return decode_plain<uint64_t>(data, first, stride, n, to);
    case DType::i64: return decode_plain<int64_t>(data, first, stride, n, to);
    case DType::c64: return decode_plain<complex64>(data, first, stride, n, to);
    case DType::c128: return decode_plain<complex128>(data, first, stride, n, to);
    default: return decode_small_type(type, data, first, stride, n, to);
  }
}

template <class T>
void decode(DType type, const void* data, int64_t first, int64_t stride, size_t n, T* to) {
  in_pieces(n, [&](size_t at, size_t count) {
    decode_piece(type, data, first + int64_t(at) * stride, stride, count, to + at);
  });
}

template <class T>
static void encode_piece(const T* from, size_t n, DType type, void* data, int64_t first, int64_t stride,
                         const EncodeOptions& options) {
  switch (type) {
    case DType::f32: return encode_plain<float>(from, n, data, first, stride);
    case DType::f64: return encode_plain<double>(from, n, data, first, stride);
    case DType::u8: return encode_plain<uint8_t>(from, n, data, first, stride);
    case DType::i8: return encode_plain<int8_t>(from, n, data, first, stride);
    case DType::u16: return encode_plain<uint16_t>(from, n, data, first, stride);
    case DType::i16: return encode_plain<int16_t>(from, n, data, first, stride);
    case DType::u32: return encode_plain<uint32_t>(from, n, data, first, stride);
    case DType::i32: return encode_plain<int32_t>(from, n, data, first, stride);
    case DType::u64: return encode_plain<uint64_t>(from, n, data, first, stride);
    case DType::i64: return encode_plain<int64_t>(from, n, data, first, stride);
    case DType::c64: return encode_plain<complex64>(from, n, data, first, stride);
    case DType::c128: return encode_plain<complex128>(from, n, data, first, stride);
    default: return encode_small_type(from, n, type, data, first, stride, options);
  }
}

template <class T>
void encode(const T* from, size_t n, DType type, void* data, int64_t first, int64_t stride,
            const EncodeOptions& options) {
  in_pieces(n, [&](size_t at, size_t count) {
    encode_piece(from + at, count, type, data, first + int64_t(at) * stride, stride, options);
  });
}

size_t class_size(Class c) {
  size_t size = sizeof(bool);
  by_class(c, [&](auto* p) { size = sizeof(*p); });
  return size;
}

void decode(Class c, DType type, const void* data, int64_t first, int64_t stride, size_t n, void* to) {
  by_class(c, [&](auto* p) { decode(type, data, first, stride, n, static_cast<decltype(p)>(to)); });
}

void encode(Class c, const void* from, size_t n, DType type, void* data, int64_t first, int64_t stride,
            const EncodeOptions& options) {
  if (c == Class::boolean) {
    if (type == DType::boolean && stride == 1) {
      __builtin_memcpy(static_cast<char*>(data) + first, from, n);
      return;
    }
    for (size_t k = 0; k < n; ++k) {
      const uint64_t v = static_cast<const bool*>(from)[k];
      encode(&v, 1, type, data, first + int64_t(k) * stride, 1, options);
    }
    return;
  }
  by_class(c, [&](auto* p) {
    encode(static_cast<std::add_const_t<std::remove_pointer_t<decltype(p)>>*>(from), n, type, data, first,
           stride, options);
  });
}

bool is_storage_of(DType type, Class c) {
  switch (c) {
    case Class::f32: return type == DType::f32;
    case Class::f64: return type == DType::f64;
    case Class::i64: return type == DType::i64;
    case Class::u64: return type == DType::u64;
    case Class::c64: return type == DType::c64;
    case Class::c128: return type == DType::c128;
    case Class::boolean: return type == DType::boolean;
  }
  return false;
}

bool is_storage_of(const Tensor& t, Class c) {
  return is_storage_of(t.type(), c) && reinterpret_cast<uintptr_t>(t.data()) % class_size(c) == 0;
}

Status no_class(const Eval& e, DType type) {
  return error(Code::unsupported, "{} cannot be computed in {}", e.op().name, dtype_name(type));
}

#define SX_CODEC(T)                                                          \
  template void decode<T>(DType, const void*, int64_t, int64_t, size_t, T*); \
  template void encode<T>(const T*, size_t, DType, void*, int64_t, int64_t, const EncodeOptions&);
SX_CODEC(float)
SX_CODEC(double)
SX_CODEC(int64_t)
SX_CODEC(uint64_t)
SX_CODEC(complex64)
SX_CODEC(complex128)
#undef SX_CODEC

}  // namespace sx
