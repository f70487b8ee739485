// SPDX-License-Identifier: Apache-2.0
#include "onnx/python_elements.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/format.h"
#include "base/mapped_file.h"
#include "onnx/python_fold.h"
#include "onnx/python_literal.h"
#include "onnx/tensor_data.h"
#include "onnx/text_lexer.h"

namespace sx::onnx {
namespace {

const char* numpy_type(DType t) {
  switch (t) {
    case DType::f32: return "<f4";
    case DType::f64: return "<f8";
    case DType::i64: return "<i8";
    case DType::i32: return "<i4";
    case DType::u64: return "<u8";
    case DType::u32: return "<u4";
    default: return nullptr;
  }
}

// [1, 2], or nothing if there is a number that Python cannot say.
template <class T>
std::string listed(std::span<const uint8_t> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  if (!std::all_of(values.begin(), values.end(), is_sayable<T>)) return {};
  return python_numbers<T>(values);
}

}  // namespace

std::string PythonElements::loaded(std::string_view name, Result<Tensor> tensor) {
  if (!tensor.ok()) {
    if (problem_.ok()) problem_ = std::move(tensor).status();
    return {};
  }
  std::string base;
  for (char c : name.substr(0, 80)) {
    base += is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.' ? c : '_';
  }
  if (base.empty() || base[0] == '.') base = "tensor" + base;
  std::string file = base + ".npy";
  for (int i = 2; !taken_.insert(file).second; ++i) file = format("{}-{}.npy", base, i);
  arrays_.push_back({file, std::move(*tensor)});
  return "load(" + hole(python_text(file)) + ")";
}

std::string PythonElements::of_bytes(std::string_view name, std::string_view bytes) {
  if (bytes.size() <= 4 * largest_) return hole(python_bytes(bytes));
  auto tensor = Tensor::of<uint8_t>(DType::u8, Dims{int64_t(bytes.size())},
                                    {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  return loaded(name, std::move(tensor)) + ".tobytes()";
}

template <class T>
void PythonElements::add_typed(std::string& out, const char* field, const Numbers<T>& f,
                               std::string_view tensor) {
  if (!f.has_bytes()) return;
  const std::vector<T> values = f.values();
  constexpr DType type = std::is_same_v<T, float>     ? DType::f32
                         : std::is_same_v<T, double>  ? DType::f64
                         : std::is_same_v<T, int32_t> ? DType::i32
                         : std::is_same_v<T, int64_t> ? DType::i64
                                                      : DType::u64;
  if (!out.empty()) out += ", ";
  out += format("{}=", field);
  out += values.size() <= largest_
             ? hole(python_numbers<T>(values))
             : loaded(tensor, Tensor::of<T>(type, Dims{int64_t(values.size())}, values));
}

std::string PythonElements::of_raw(const TensorProto& t) {
  const auto info = tensor_info(t);
  const auto bytes = t.raw_data.bytes();
  const bool right = info.ok() && info->raw_bytes == bytes.size();
  const char* const numpy = right ? numpy_type(info->type) : nullptr;
  if (numpy && uint64_t(info->count) <= largest_) {
    const std::string list = info->type == DType::f32   ? listed<float>(bytes)
                             : info->type == DType::f64 ? listed<double>(bytes)
                             : info->type == DType::i64 ? listed<int64_t>(bytes)
                             : info->type == DType::i32 ? listed<int32_t>(bytes)
                             : info->type == DType::u64 ? listed<uint64_t>(bytes)
                                                        : listed<uint32_t>(bytes);
    if (!list.empty()) return format("raw(\"{}\", ", numpy) + hole(list) + ")";
  }
  if (bytes.size() <= 4 * largest_) return hole(python_bytes(t.raw_data));
  auto buffer = Buffer::wrap(bytes.data(), bytes.size(), model_.file);
  Dims dims = numpy ? info->dims : Dims{int64_t(bytes.size())};
  return loaded(t.name, Tensor::over(std::move(buffer), 0, numpy ? info->type : DType::u8, std::move(dims))) +
         ".tobytes()";
}

std::string PythonElements::of(const TensorProto& t, const Oddities& odd) {
  std::string out;
  if (t.raw_data.present()) out = "raw_data=" + of_raw(t);
  if (!odd.has("float_data")) add_typed(out, "float_data", t.float_data, t.name);
  add_typed(out, "int32_data", t.int32_data, t.name);
  add_typed(out, "int64_data", t.int64_data, t.name);
  if (!odd.has("double_data")) add_typed(out, "double_data", t.double_data, t.name);
  add_typed(out, "uint64_data", t.uint64_data, t.name);
  return out;
}

Result<std::vector<std::pair<std::string, Tensor>>> PythonElements::arrays() {
  SX_TRY(std::move(problem_));
  return std::move(arrays_);
}

}  // namespace sx::onnx
