// SPDX-License-Identifier: Apache-2.0
#include "onnx/tensor_data.h"

#include <cstring>

#include "base/format.h"
#include "onnx/bit_packing.h"
#include "onnx/display.h"
#include "onnx/external_data.h"

namespace sx::onnx {
namespace {

// Which field of TensorProto holds the elements of a type when they are not raw.
enum class TypedField { none, f32, i32, i64, f64, u64, strings };

TypedField typed_field(DType t) {
  switch (t) {
    case DType::f32:
    case DType::c64: return TypedField::f32;
    case DType::f64:
    case DType::c128: return TypedField::f64;
    case DType::i64: return TypedField::i64;
    case DType::u32:
    case DType::u64: return TypedField::u64;
    case DType::string: return TypedField::strings;
    case DType::undefined: return TypedField::none;
    default: return TypedField::i32;
  }
}

struct Present {
  int count = 0;
  const char* first = nullptr;
  TypedField field = TypedField::none;
  void add(bool present, const char* name, TypedField f) {
    if (!present) return;
    ++count;
    if (!first) {
      first = name;
      field = f;
    }
  }
};

// Empty fields do not count: packing libraries leave them behind.
Present present_data(const TensorProto& t) {
  Present p;
  p.add(!t.raw_data.empty(), "raw_data", TypedField::none);
  p.add(t.float_data.has_bytes(), "float_data", TypedField::f32);
  p.add(t.int32_data.has_bytes(), "int32_data", TypedField::i32);
  p.add(t.int64_data.has_bytes(), "int64_data", TypedField::i64);
  p.add(t.double_data.has_bytes(), "double_data", TypedField::f64);
  p.add(t.uint64_data.has_bytes(), "uint64_data", TypedField::u64);
  p.add(!t.string_data.empty(), "string_data", TypedField::strings);
  return p;
}

bool is_float6(DType t) { return t == DType::f6e2m3 || t == DType::f6e3m2; }

// How many numbers the typed field must have.
uint64_t typed_count(const TensorInfo& info) {
  const auto n = uint64_t(info.count);
  if (dtype_is_complex(info.type)) return 2 * n;
  const auto bits = uint64_t(dtype_bits(info.type));
  if (bits > 0 && bits < 8 && !is_float6(info.type)) return (n * bits + 7) / 8;
  return n;
}

Status check_typed_count(size_t found, const TensorInfo& info, const char* field) {
  const uint64_t expected = typed_count(info);
  if (found == expected) return {};
  return error(Code::invalid_model, "{} has {} values, {}{} needs {}", field, found, dtype_name(info.type),
               to_string(info.dims), expected);
}

template <class T>
Status decode_whole(const Numbers<T>& from, const TensorInfo& info, const char* field, Tensor* to) {
  if (Status s = from.check(); !s.ok()) return std::move(s).in(field);
  SX_TRY(check_typed_count(from.size(), info, field));
  if (to) from.decode({static_cast<T*>(to->mutable_data()), size_t(typed_count(info))});
  return {};
}

// int32_data and uint64_data hold narrower elements: the low bits of each number, which must not have others.
template <class T>
Status decode_narrow(const Numbers<T>& from, const TensorInfo& info, const char* field, Tensor* to) {
  if (Status s = from.check(); !s.ok()) return std::move(s).in(field);
  SX_TRY(check_typed_count(from.size(), info, field));
  if (!to) return {};
  const std::vector<T> values = from.values();
  auto* out = static_cast<uint8_t*>(to->mutable_data());
  const size_t width = to->bytes() / std::max<size_t>(values.size(), 1);
  for (size_t i = 0; i < values.size(); ++i) {
    T v = values[i];
    if (info.type == DType::boolean) v = v != 0;
    if (is_float6(info.type)) v &= 0x3f;
    std::memcpy(out + i * width, &v, width);
  }
  return {};
}

Status typed_payload(const TensorProto& t, const TensorInfo& info, Tensor* to) {
  switch (typed_field(info.type)) {
    case TypedField::f32: return decode_whole(t.float_data, info, "float_data", to);
    case TypedField::f64: return decode_whole(t.double_data, info, "double_data", to);
    case TypedField::i64: return decode_whole(t.int64_data, info, "int64_data", to);
    case TypedField::u64: return decode_narrow(t.uint64_data, info, "uint64_data", to);
    case TypedField::i32: return decode_narrow(t.int32_data, info, "int32_data", to);
    case TypedField::strings: {
      SX_TRY(check_typed_count(t.string_data.size(), info, "string_data"));
      if (!to) return {};
      for (size_t i = 0; i < t.string_data.size(); ++i) to->mutable_strings()[i] = t.string_data[i].str();
      return {};
    }
    case TypedField::none: break;
  }
  return error(Code::invalid_model, "a tensor of type undefined has no elements");
}

// Where the elements are: raw bytes (in the file or in a file beside it), or a typed field.
struct Payload {
  bool raw = false;
  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;  // null: must be copied
  std::shared_ptr<const MappedFile> file;
};

bool lies_in(std::span<const uint8_t> bytes, const MappedFile* file) {
  if (!file) return false;
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  const auto first = reinterpret_cast<uintptr_t>(file->bytes().data());
  return begin >= first && begin + bytes.size() <= first + file->bytes().size();
}

Result<Payload> find_payload(const TensorProto& t, const TensorInfo& info, const DataSource& source) {
  if (t.segment)
    return error(Code::unsupported,
                 "the tensor is stored in segments, which no ONNX version defines how to join");
  if (t.data_location.value != 0 && t.data_location.value != 1) {
    return error(Code::invalid_model, "data_location is {}, expected 0 (in the model) or 1 (external)",
                 t.data_location.value);
  }
  const Present present = present_data(t);
  if (t.is_external()) {
    if (present.count > 0) {
      return error(Code::invalid_model, "data_location is external, but the tensor has {} as well",
                   present.first);
    }
    if (info.type == DType::string) return error(Code::invalid_model, "strings cannot be external data");
    SX_ASSIGN(ExternalBytes external, external_bytes(t, info.raw_bytes, source.external));
    return Payload{true, external.bytes, external.file, external.file};
  }
  if (present.count > 1) {
    return error(Code::invalid_model, "the data is in {} fields at once, expected one", present.count);
  }
  if (present.count == 0) {
    if (info.count == 0) return Payload{};
    if (!t.external_data.empty()) {
      return error(Code::invalid_model, "external_data is given, but data_location does not say external");
    }
    return error(Code::invalid_model, "the tensor has no data, {}{} needs {} elements", dtype_name(info.type),
                 to_string(info.dims), info.count);
  }
  if (!t.raw_data.empty()) {
    if (info.type == DType::string) {
      return error(Code::invalid_model, "strings are in raw_data, expected string_data");
    }
    if (t.raw_data.size() != info.raw_bytes) {
      return error(Code::invalid_model, "raw_data has {} bytes, {}{} needs {}", t.raw_data.size(),
                   dtype_name(info.type), to_string(info.dims), info.raw_bytes);
    }
    return Payload{true, t.raw_data.bytes(), t.raw_data.owned() ? nullptr : source.owner, source.file};
  }
  if (present.field != typed_field(info.type)) {
    return error(Code::invalid_model, "the data is in {}, which does not hold elements of type {}",
                 present.first, dtype_name(info.type));
  }
  return Payload{};
}

Result<Tensor> raw_tensor(const TensorInfo& info, const Payload& payload, const DataSource& source) {
  if (is_float6(info.type)) {
    SX_ASSIGN(Tensor t, Tensor::allocate(info.type, info.dims));
    unpack_6bit(payload.bytes, {static_cast<uint8_t*>(t.mutable_data()), t.bytes()});
    return t;
  }
  const bool aligned = reinterpret_cast<uintptr_t>(payload.bytes.data()) % dtype_alignment(info.type) == 0;
  const bool weights = dtype_is_float(info.type) && info.dims.size() > 1 &&
                       payload.bytes.size() >= source.copy_unaligned_below;
  if (payload.owner && (aligned || weights)) {
    auto buffer = lies_in(payload.bytes, payload.file.get())
                      ? Buffer::in_file(payload.file, payload.bytes.data(), payload.bytes.size())
                      : Buffer::wrap(payload.bytes.data(), payload.bytes.size(), payload.owner);
    return Tensor::over(std::move(buffer), 0, info.type, info.dims);
  }
  SX_ASSIGN(Tensor t, Tensor::allocate(info.type, info.dims));
  if (t.bytes() > 0) std::memcpy(t.mutable_data(), payload.bytes.data(), t.bytes());
  return t;
}

Status named(Status s, const TensorProto& t) {
  if (s.ok()) return s;
  return t.name.empty() ? std::move(s).in("tensor") : std::move(s).in(format("tensor {}", quoted(t.name)));
}

Result<Tensor> make_tensor(const TensorProto& t, const DataSource& source) {
  SX_ASSIGN(const TensorInfo info, tensor_info(t));
  SX_ASSIGN(const Payload payload, find_payload(t, info, source));
  if (payload.raw) return raw_tensor(info, payload, source);
  SX_TRY(typed_payload(t, info, nullptr));  // before memory is taken for what may not be there
  SX_ASSIGN(Tensor tensor, Tensor::allocate(info.type, info.dims));
  SX_TRY(typed_payload(t, info, &tensor));
  return tensor;
}

}  // namespace

DataSource data_source(const Model& model) {
  if (model.keep.empty()) return {model.file, model.external.get(), model.file};
  struct Kept {
    std::shared_ptr<const MappedFile> file;
    std::vector<std::shared_ptr<const void>> keep;
  };
  return {std::make_shared<Kept>(Kept{model.file, model.keep}), model.external.get(), model.file};
}

Result<TensorInfo> tensor_info(const TensorProto& t) {
  TensorInfo info;
  if (!dtype_is_valid(t.data_type)) {
    return error(Code::invalid_model, "data_type is {}, expected 1 to {}", t.data_type.value,
                 kDTypeCount - 1);
  }
  info.type = DType(t.data_type.value);
  const size_t rank = t.dims.size();
  if (rank > kMaxRank) {
    return error(Code::invalid_model, "the tensor has {} dimensions, expected at most {}", rank, kMaxRank);
  }
  info.dims.resize(rank);
  t.dims.decode({info.dims.data(), rank});
  for (size_t i = 0; i < rank; ++i) {
    if (info.dims[i] < 0) {
      return error(Code::invalid_model, "dimension {} is {}, expected a size that is not negative", i,
                   info.dims[i]);
    }
  }
  size_t bytes = 0;
  if (!element_count(info.dims, info.count) || !dtype_bytes(info.type, uint64_t(info.count), bytes)) {
    return error(Code::invalid_model, "the dims {} multiply to more elements than memory can hold",
                 to_string(info.dims));
  }
  // Raw float6 is packed, four elements in three bytes; in memory one takes a byte.
  info.raw_bytes = is_float6(info.type) ? packed_6bit_size(uint64_t(info.count)) : bytes;
  return info;
}

Result<Tensor> to_tensor(const TensorProto& t, const DataSource& source) {
  Result<Tensor> tensor = make_tensor(t, source);
  if (!tensor.ok()) return named(std::move(tensor).status(), t);
  return tensor;
}

Result<Tensor> to_tensor(const Model& model, const TensorProto& t) {
  return to_tensor(t, data_source(model));
}

Status check_tensor(const TensorProto& t, const DataSource& source) {
  const auto check = [&]() -> Status {
    SX_ASSIGN(const TensorInfo info, tensor_info(t));
    SX_ASSIGN(const Payload payload, find_payload(t, info, source));
    return payload.raw ? Status() : typed_payload(t, info, nullptr);
  };
  return named(check(), t);
}

Result<SparseTensor> to_sparse_tensor(const SparseTensorProto& s, const DataSource& source) {
  if (!s.values || !s.indices) return error(Code::invalid_model, "a sparse tensor needs values and indices");
  SparseTensor out;
  const size_t rank = s.dims.size();
  if (rank == 0 || rank > kMaxRank) {
    return error(Code::invalid_model, "a sparse tensor has {} dimensions, expected 1 to {}", rank, kMaxRank);
  }
  out.dims.resize(rank);
  s.dims.decode({out.dims.data(), rank});
  int64_t count = 0;
  if (!element_count(out.dims, count)) {
    return error(Code::invalid_model, "the dims {} of a sparse tensor are negative or too large",
                 to_string(out.dims));
  }
  SX_ASSIGN(out.values, to_tensor(*s.values, source));
  SX_ASSIGN(out.indices, to_tensor(*s.indices, source));
  const Dims& v = out.values.dims();
  const Dims& i = out.indices.dims();
  const bool linear = i.size() == 1, pairs = i.size() == 2 && i[1] == int64_t(rank);
  if (out.indices.type() != DType::i64 || v.size() != 1 || !(linear || pairs) || i[0] != v[0]) {
    return error(Code::invalid_model,
                 "sparse tensor: expected values [n] and int64 indices [n] or [n, {}], found {} and {}{}",
                 rank, to_string(v), dtype_name(out.indices.type()), to_string(i));
  }
  for (int64_t k = 0; k < out.indices.count(); ++k) {
    int64_t at = 0;
    std::memcpy(&at, static_cast<const char*>(out.indices.data()) + k * 8, 8);
    const int64_t limit = linear ? count : out.dims[size_t(k) % rank];
    if (at < 0 || at >= limit) {
      return error(Code::invalid_model, "sparse tensor: index {} is outside 0 to {}", at, limit - 1);
    }
  }
  return out;
}

TensorProto from_tensor(const Tensor& tensor, std::string_view name) {
  TensorProto t;
  if (!tensor.dims().empty()) t.dims.assign(tensor.dims());
  t.data_type = int32_t(tensor.type());
  if (!name.empty()) t.name = name;
  if (tensor.type() == DType::string) {
    for (const std::string& s : tensor.strings()) t.string_data.emplace_back(s);
  } else if (is_float6(tensor.type())) {
    t.raw_data = Bytes::copy_of(pack_6bit({static_cast<const uint8_t*>(tensor.data()), tensor.bytes()}));
  } else {
    t.raw_data = Bytes::copy_of({static_cast<const uint8_t*>(tensor.data()), tensor.bytes()});
  }
  return t;
}

SparseTensorProto from_sparse_tensor(const SparseTensor& tensor, std::string_view name) {
  SparseTensorProto s;
  s.values = from_tensor(tensor.values, name);
  s.indices = from_tensor(tensor.indices);
  s.dims.assign(tensor.dims);
  return s;
}

}  // namespace sx::onnx
