// SPDX-License-Identifier: Apache-2.0
#include "tensor/dtype.h"

namespace sx {
namespace {

enum Class : uint8_t { kNothing, kFloat, kSigned, kUnsigned, kComplex, kOther };

struct Row {
  std::string_view name, onnx, brief;
  uint8_t bits, storage_bits;
  Class kind;
};

constexpr Row kRows[kDTypeCount] = {
    {"undefined", "UNDEFINED", "undefined", 0, 0, kNothing},
    {"float32", "FLOAT", "f32", 32, 32, kFloat},
    {"uint8", "UINT8", "u8", 8, 8, kUnsigned},
    {"int8", "INT8", "i8", 8, 8, kSigned},
    {"uint16", "UINT16", "u16", 16, 16, kUnsigned},
    {"int16", "INT16", "i16", 16, 16, kSigned},
    {"int32", "INT32", "i32", 32, 32, kSigned},
    {"int64", "INT64", "i64", 64, 64, kSigned},
    {"string", "STRING", "str", 0, 0, kOther},
    {"bool", "BOOL", "bool", 8, 8, kOther},
    {"float16", "FLOAT16", "f16", 16, 16, kFloat},
    {"float64", "DOUBLE", "f64", 64, 64, kFloat},
    {"uint32", "UINT32", "u32", 32, 32, kUnsigned},
    {"uint64", "UINT64", "u64", 64, 64, kUnsigned},
    {"complex64", "COMPLEX64", "c64", 64, 64, kComplex},
    {"complex128", "COMPLEX128", "c128", 128, 128, kComplex},
    {"bfloat16", "BFLOAT16", "bf16", 16, 16, kFloat},
    {"float8e4m3fn", "FLOAT8E4M3FN", "f8e4m3fn", 8, 8, kFloat},
    {"float8e4m3fnuz", "FLOAT8E4M3FNUZ", "f8e4m3fnuz", 8, 8, kFloat},
    {"float8e5m2", "FLOAT8E5M2", "f8e5m2", 8, 8, kFloat},
    {"float8e5m2fnuz", "FLOAT8E5M2FNUZ", "f8e5m2fnuz", 8, 8, kFloat},
    {"uint4", "UINT4", "u4", 4, 4, kUnsigned},
    {"int4", "INT4", "i4", 4, 4, kSigned},
    {"float4e2m1", "FLOAT4E2M1", "f4e2m1", 4, 4, kFloat},
    {"float8e8m0", "FLOAT8E8M0", "f8e8m0", 8, 8, kFloat},
    {"uint2", "UINT2", "u2", 2, 2, kUnsigned},
    {"int2", "INT2", "i2", 2, 2, kSigned},
    {"float6e2m3", "FLOAT6E2M3", "f6e2m3", 6, 8, kFloat},
    {"float6e3m2", "FLOAT6E3M2", "f6e3m2", 6, 8, kFloat},
};

const Row& row(DType t) { return kRows[unsigned(t) < unsigned(kDTypeCount) ? unsigned(t) : 0]; }

}  // namespace

int dtype_bits(DType t) { return row(t).bits; }
size_t dtype_alignment(DType t) {
  const int bits = dtype_is_complex(t) ? dtype_bits(t) / 2 : dtype_bits(t);
  return bits <= 8 ? 1 : size_t(bits) / 8;
}
std::string_view dtype_name(DType t) { return row(t).name; }
std::string_view dtype_onnx_name(DType t) { return row(t).onnx; }
std::string_view dtype_short_name(DType t) { return row(t).brief; }
bool dtype_is_float(DType t) { return row(t).kind == kFloat; }
bool dtype_is_integer(DType t) { return row(t).kind == kSigned || row(t).kind == kUnsigned; }
bool dtype_is_signed(DType t) { return row(t).kind == kSigned || row(t).kind == kFloat; }
bool dtype_is_complex(DType t) { return row(t).kind == kComplex; }

bool parse_dtype(std::string_view name, DType& t) {
  if (name == "float") name = "float32";
  if (name == "double") name = "float64";
  for (int i = 1; i < kDTypeCount; ++i) {
    const Row& r = kRows[i];
    if (name == r.name || name == r.onnx || name == r.brief) {
      t = DType(i);
      return true;
    }
  }
  return false;
}

bool dtype_bytes(DType t, uint64_t count, size_t& bytes) {
  const uint64_t bits = row(t).storage_bits;
  uint64_t total = 0;
  if (__builtin_mul_overflow(count, bits, &total) || total > UINT64_MAX - 7) {
    if (bits % 8 != 0 || __builtin_mul_overflow(count, bits / 8, &total)) return false;
    bytes = total;
    return true;
  }
  bytes = (total + 7) / 8;
  return true;
}

}  // namespace sx
