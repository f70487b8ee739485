// SPDX-License-Identifier: Apache-2.0
#include "onnx/text_tensor.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/format.h"
#include "onnx/bit_packing.h"
#include "onnx/external_data.h"
#include "onnx/tensor_data.h"
#include "onnx/text_types.h"

namespace sx::onnx {
namespace {

bool is_float6(DType t) { return t == DType::f6e2m3 || t == DType::f6e3m2; }

template <class T>
bool usual(T value) {
  if (!std::isnan(value)) return true;
  T canonical = std::numeric_limits<T>::quiet_NaN();
  if (std::signbit(value)) canonical = -canonical;
  return std::memcmp(&canonical, &value, sizeof value) == 0;
}

template <class T, class F>
void each_raw(std::span<const uint8_t> bytes, F&& f) {
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T v;
    std::memcpy(&v, bytes.data() + i, sizeof v);
    f(v);
  }
}

bool raw_survives(DType type, std::span<const uint8_t> raw, int64_t count) {
  bool good = true;
  switch (type) {
    case DType::f32:
    case DType::c64: each_raw<float>(raw, [&](float v) { good = good && usual(v); }); break;
    case DType::f64:
    case DType::c128: each_raw<double>(raw, [&](double v) { good = good && usual(v); }); break;
    case DType::boolean: each_raw<uint8_t>(raw, [&](uint8_t v) { good = good && v <= 1; }); break;
    case DType::f6e2m3:
    case DType::f6e3m2: good = count % 4 == 0 || raw.back() >> ((count * 6 - 1) % 8 + 1) == 0; break;
    default: break;
  }
  return good;
}

class ListPrinter {
 public:
  explicit ListPrinter(std::string& to) : to_(to) { to_ += '{'; }
  ~ListPrinter() { to_ += '}'; }
  template <class T>
  void add(T value) {
    separate();
    append_number(to_, value);
  }
  void add_text(std::string_view text) {
    separate();
    append_quoted(to_, plain_text(text));
  }
  template <class T>
  void all(const Numbers<T>& numbers) {
    for (T v : numbers.values()) add(v);
  }

 private:
  void separate() {
    if (!first_) to_ += ", ";
    first_ = false;
  }
  std::string& to_;
  bool first_ = true;
};

void print_raw(DType type, std::span<const uint8_t> raw, int64_t count, ListPrinter& list) {
  const auto put = [&](auto v) { list.add(v); };
  const auto put_small = [&](auto v) { list.add(int32_t(v)); };
  switch (type) {
    case DType::f32:
    case DType::c64: return each_raw<float>(raw, put);
    case DType::f64:
    case DType::c128: return each_raw<double>(raw, put);
    case DType::i64: return each_raw<int64_t>(raw, put);
    case DType::u64: return each_raw<uint64_t>(raw, put);
    case DType::u32: return each_raw<uint32_t>(raw, put);
    case DType::i32: return each_raw<int32_t>(raw, put);
    case DType::i16: return each_raw<int16_t>(raw, put_small);
    case DType::u16:
    case DType::f16:
    case DType::bf16: return each_raw<uint16_t>(raw, put_small);
    case DType::i8: return each_raw<int8_t>(raw, put_small);
    case DType::f6e2m3:
    case DType::f6e3m2: {
      std::vector<uint8_t> codes(static_cast<size_t>(count));
      unpack_6bit(raw, codes);
      return each_raw<uint8_t>(codes, put_small);
    }
    default:
      return each_raw<uint8_t>(raw, put_small);  // sub-byte types: the packed bytes, as int32_data has them
  }
}

// int4[3] {1, 2, 3}: elements one by one, as a person writes them, into the packed bytes of int32_data.
void pack_small_elements(TensorProto& t, std::vector<int32_t>& values) {
  const Result<TensorInfo> info = tensor_info(t);
  if (!info.ok()) return;
  const int bits = dtype_bits(info->type);
  if (bits >= 8 || is_float6(info->type) || values.size() < 2 || int64_t(values.size()) != info->count)
    return;
  std::vector<uint8_t> elements(values.begin(), values.end()), packed(size_t(info->raw_bytes));
  pack_small(elements.data(), elements.size(), bits, packed.data());
  values.assign(packed.begin(), packed.end());
}

template <class T>
Status parse_list(TextLexer& lexer, std::vector<T>& to, const char* what) {
  if (lexer.eat('}')) return {};
  do {
    Literal l;
    lexer.peek();
    const size_t at = lexer.at();
    SX_TRY(lexer.literal(l, what));
    bool good = l.kind != Literal::Kind::text;
    T value{};
    if constexpr (std::is_floating_point_v<T>) {
      good = good && parse_real(l.spelling, value);
    } else {
      good = good && l.kind == Literal::Kind::integer;
      if constexpr (std::is_same_v<T, uint64_t>) {
        good = good && parse_unsigned(l.spelling, value);
      } else {
        int64_t wide = 0;
        good = good && parse_integer(l.spelling, wide) && wide == int64_t(T(wide));
        value = T(wide);
      }
    }
    if (!good) return lexer.fail_at(at, format("expected {}", what));
    to.push_back(value);
  } while (lexer.eat(','));
  return lexer.expect('}', "after the elements");
}

Status parse_strings(TextLexer& lexer, std::vector<Bytes>& to) {
  if (lexer.eat('}')) return {};
  do {
    std::string s;
    SX_TRY(lexer.string(s, "a string"));
    to.emplace_back(s);
  } while (lexer.eat(','));
  return lexer.expect('}', "after the elements");
}

Status parse_values(TextLexer& lexer, TensorProto& t) {
  switch (DType(t.data_type.value)) {
    case DType::f32:
    case DType::c64: {
      std::vector<float> v;
      SX_TRY(parse_list(lexer, v, "a number of 32 bits"));
      t.float_data = v;
      return {};
    }
    case DType::f64:
    case DType::c128: {
      std::vector<double> v;
      SX_TRY(parse_list(lexer, v, "a number"));
      t.double_data = v;
      return {};
    }
    case DType::i64: {
      std::vector<int64_t> v;
      SX_TRY(parse_list(lexer, v, "a whole number of 64 bits"));
      t.int64_data = v;
      return {};
    }
    case DType::u32:
    case DType::u64: {
      std::vector<uint64_t> v;
      SX_TRY(parse_list(lexer, v, "a whole number that is not negative"));
      t.uint64_data = v;
      return {};
    }
    case DType::string: return parse_strings(lexer, t.string_data);
    default: {
      std::vector<int32_t> v;
      SX_TRY(parse_list(lexer, v, "a whole number of 32 bits"));
      pack_small_elements(t, v);
      t.int32_data = v;
      return {};
    }
  }
}

}  // namespace

template <class T>
void append_number(std::string& to, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) {
      to += std::signbit(value) ? "-nan" : "nan";
      return;
    }
  }
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  to.append(buffer, size_t(result.ptr - buffer));
}
template void append_number(std::string&, int32_t);
template void append_number(std::string&, int64_t);
template void append_number(std::string&, uint32_t);
template void append_number(std::string&, uint64_t);
template void append_number(std::string&, float);
template void append_number(std::string&, double);

void append_quoted(std::string& to, std::string_view text) {
  to += '"';
  for (char c : text) {
    if (c == '\\' || c == '"') to += '\\';
    to += c;
  }
  to += '"';
}

PayloadForm payload_form(const TensorProto& t) {
  const Result<TensorInfo> info = tensor_info(t);
  if (!info.ok()) return PayloadForm::odd;
  if (t.is_external()) {
    const bool data = !t.raw_data.empty() || t.float_data.has_bytes() || t.int32_data.has_bytes() ||
                      t.int64_data.has_bytes() || t.double_data.has_bytes() || t.uint64_data.has_bytes() ||
                      !t.string_data.empty();
    return data || t.external_data.empty() ? PayloadForm::odd : PayloadForm::external;
  }
  if (!check_tensor(t, {}).ok()) return PayloadForm::odd;
  if (t.raw_data.empty()) return PayloadForm::typed;
  return raw_survives(info->type, t.raw_data.bytes(), info->count) ? PayloadForm::raw : PayloadForm::raw_odd;
}

void print_elements(const TensorProto& t, PayloadForm form, std::string& to) {
  if (form == PayloadForm::external) {
    to += '[';
    for (size_t i = 0; i < t.external_data.size(); ++i) {
      if (i > 0) to += ", ";
      append_quoted(to, plain_text(t.external_data[i].key));
      to += ": ";
      append_quoted(to, plain_text(t.external_data[i].value));
    }
    to += ']';
    return;
  }
  ListPrinter list(to);
  if (form == PayloadForm::odd) return;
  if (form == PayloadForm::raw || form == PayloadForm::raw_odd) {
    const Result<TensorInfo> info = tensor_info(t);
    return print_raw(info->type, t.raw_data.bytes(), info->count, list);
  }
  list.all(t.float_data);
  list.all(t.int32_data);
  list.all(t.int64_data);
  list.all(t.double_data);
  list.all(t.uint64_data);
  for (const Bytes& s : t.string_data) list.add_text(s);
}

Status parse_elements(TextLexer& lexer, TensorProto& t) {
  if (lexer.eat('{')) return parse_values(lexer, t);
  if (!lexer.eat('[')) return lexer.expected("'{' and elements, or '[' and where the data is");
  t.data_location = int32_t(DataLocation::external);
  do {
    std::string key, value;
    SX_TRY(lexer.string(key, "a key in quotes"));
    SX_TRY(lexer.expect(':', "after the key"));
    SX_TRY(lexer.string(value, "a value in quotes"));
    t.external_data.push_back({{}, key, value});
  } while (lexer.eat(','));
  return lexer.expect(']', "after where the data is");
}

Status move_to_raw(TensorProto& t) {
  if (t.data_type.value == int32_t(DType::string))
    return error(Code::invalid_model, "strings cannot be raw data");
  SX_ASSIGN(const Tensor tensor, to_tensor(t, {}));
  TensorProto raw = from_tensor(tensor);
  t.raw_data = std::move(raw.raw_data);
  t.float_data = {};
  t.int32_data = {};
  t.int64_data = {};
  t.double_data = {};
  t.uint64_data = {};
  return {};
}

}  // namespace sx::onnx
