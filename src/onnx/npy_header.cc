// SPDX-License-Identifier: Apache-2.0
#include "onnx/npy_header.h"

#include <charconv>
#include <optional>

#include "base/format.h"
#include "onnx/display.h"
#include "onnx/tensor_data.h"

namespace sx::onnx {
namespace {

// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } in any order and spacing.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Status parse(NpyHeader& h) {
    if (!eat('{')) return wrong("a dictionary");
    bool descr = false, order = false, shape = false;
    while (!eat('}')) {
      std::string_view key;
      SX_TRY(string(key));
      if (!eat(':')) return wrong("':'");
      if (key == "descr") {
        std::string_view value;
        SX_TRY(string(value));
        SX_TRY(parse_descr(value, h));
        descr = true;
      } else if (key == "fortran_order") {
        SX_TRY(boolean(h.fortran));
        order = true;
      } else if (key == "shape") {
        SX_TRY(tuple(h.dims));
        shape = true;
      } else {
        return error(Code::invalid_argument, "the header has the unknown key {}", quoted(key));
      }
      if (!eat(',') && !peek('}')) return wrong("',' or '}'");
    }
    if (!descr || !order || !shape)
      return error(Code::invalid_argument, "the header lacks descr, fortran_order or shape");
    return {};
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool peek(char c) {
    skip();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool eat(char c) {
    if (!peek(c)) return false;
    ++at_;
    return true;
  }
  Status wrong(std::string_view expected) {
    return error(Code::invalid_argument, "the header is malformed: expected {}, found {}", expected,
                 quoted(text_.substr(std::min(at_, text_.size()), 20)));
  }
  Status string(std::string_view& value) {
    skip();
    if (!peek('\'') && !peek('"')) {
      if (peek('['))
        return error(Code::unsupported, "the array has records as elements; only plain types can be read");
      return wrong("a string");
    }
    const char quote = text_[at_++];
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) return wrong("the end of a string");
    value = text_.substr(at_, end - at_);
    at_ = end + 1;
    return {};
  }
  Status boolean(bool& value) {
    skip();
    value = text_.substr(at_).starts_with("True");
    if (!value && !text_.substr(at_).starts_with("False")) return wrong("True or False");
    at_ += value ? 4 : 5;
    return {};
  }
  Status tuple(Dims& dims) {
    if (!eat('(')) return wrong("a tuple");
    while (!eat(')')) {
      skip();
      int64_t n = 0;
      const auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), n);
      if (problem != std::errc() || n < 0) return wrong("a size");
      at_ = size_t(end - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // written by Python 2
      if (dims.size() == kMaxRank)
        return error(Code::invalid_argument, "the array has more than {} dimensions", kMaxRank);
      dims.push_back(n);
      if (!eat(',') && !peek(')')) return wrong("',' or ')'");
    }
    return {};
  }
  static Status parse_descr(std::string_view d, NpyHeader& h);

  std::string_view text_;
  size_t at_ = 0;
};

std::optional<DType> plain_type(char kind, size_t bytes) {
  switch (kind) {
    case 'b': return bytes == 1 ? std::optional(DType::boolean) : std::nullopt;
    case 'i':
      return bytes == 1   ? std::optional(DType::i8)
             : bytes == 2 ? std::optional(DType::i16)
             : bytes == 4 ? std::optional(DType::i32)
             : bytes == 8 ? std::optional(DType::i64)
                          : std::nullopt;
    case 'u':
      return bytes == 1   ? std::optional(DType::u8)
             : bytes == 2 ? std::optional(DType::u16)
             : bytes == 4 ? std::optional(DType::u32)
             : bytes == 8 ? std::optional(DType::u64)
                          : std::nullopt;
    case 'f':  // one byte: how ml_dtypes names float8e5m2
      return bytes == 1   ? std::optional(DType::f8e5m2)
             : bytes == 2 ? std::optional(DType::f16)
             : bytes == 4 ? std::optional(DType::f32)
             : bytes == 8 ? std::optional(DType::f64)
                          : std::nullopt;
    case 'c':
      return bytes == 8 ? std::optional(DType::c64) : bytes == 16 ? std::optional(DType::c128) : std::nullopt;
    case 'U':
    case 'S': return DType::string;
    case 'V': return bytes == 1 || bytes == 2 ? std::optional(DType::undefined) : std::nullopt;
    default: return std::nullopt;
  }
}

Status HeaderParser::parse_descr(std::string_view d, NpyHeader& h) {
  std::string_view rest = d;
  char order = '|';
  if (!rest.empty() && std::string_view("<>|=").find(rest[0]) != std::string_view::npos) {
    order = rest[0];
    rest.remove_prefix(1);
  }
  size_t size = 0;
  if (rest == "?") rest = "b1";
  if (rest.size() >= 2) {
    h.kind = rest[0];
    const auto [end, problem] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), size);
    if (problem != std::errc() || end != rest.data() + rest.size() || size > (size_t(1) << 40)) h.kind = 0;
  }
  h.item_bytes = h.kind == 'U' ? size * 4 : size;
  h.swapped = order == '>' && h.item_bytes > 1 && h.kind != 'S';
  const std::optional<DType> type = plain_type(h.kind, size);
  if (type) {
    h.type = *type;
    return {};
  }
  if (rest == "O") {
    return error(Code::unsupported,
                 "the array holds Python objects (pickled); save it as numbers or as strings");
  }
  return error(Code::unsupported, "the array has elements of type {}, which ONNX does not have", quoted(d));
}

const char* descr_of(DType t) {
  switch (t) {
    case DType::boolean: return "|b1";
    case DType::i8: return "|i1";
    case DType::u8: return "|u1";
    case DType::i16: return "<i2";
    case DType::u16: return "<u2";
    case DType::i32: return "<i4";
    case DType::u32: return "<u4";
    case DType::i64: return "<i8";
    case DType::u64: return "<u8";
    case DType::f16: return "<f2";
    case DType::f32: return "<f4";
    case DType::f64: return "<f8";
    case DType::c64: return "<c8";
    case DType::c128: return "<c16";
    case DType::f8e5m2: return "<f1";
    case DType::bf16: return "<V2";
    default: return "<V1";
  }
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::span<const uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with("\x93NUMPY"))
    return error(Code::invalid_argument, "this is not a .npy file: its first bytes are not \\x93NUMPY");
  if (bytes.size() < 10) return error(Code::invalid_argument, "the .npy header is cut off");
  const unsigned version = bytes[6];
  if (version < 1 || version > 3)
    return error(Code::unsupported, ".npy version {}, expected 1, 2 or 3", version);
  size_t length = size_t(bytes[8]) | size_t(bytes[9]) << 8, start = 10;
  if (version > 1) {
    if (bytes.size() < 12) return error(Code::invalid_argument, "the .npy header is cut off");
    length |= size_t(bytes[10]) << 16 | size_t(bytes[11]) << 24;
    start = 12;
  }
  if (length > bytes.size() - start) {
    return error(Code::invalid_argument, "the .npy header says it has {} bytes, the file has {}", length,
                 bytes.size() - start);
  }
  NpyHeader h;
  SX_TRY(HeaderParser(text.substr(start, length)).parse(h));
  h.data_offset = start + length;
  return h;
}

std::string npy_header(DType type, std::span<const int64_t> dims, size_t width) {
  std::string shape = "(";
  for (size_t i = 0; i < dims.size(); ++i) shape += format("{}{}", i ? ", " : "", dims[i]);
  shape += dims.size() == 1 ? ",)" : ")";
  const std::string descr = type == DType::string ? format("<U{}", width) : descr_of(type);
  std::string dict = format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape);
  const size_t start = dict.size() + 11 < 65536 ? 10 : 12;
  while ((start + dict.size() + 1) % 64 != 0) dict += ' ';
  dict += '\n';
  std::string out = "\x93NUMPY";
  out += start == 10 ? '\1' : '\2';
  out += '\0';
  for (size_t i = 0; i < start - 8; ++i) out += char(dict.size() >> (8 * i) & 0xff);
  return out + dict;
}

}  // namespace sx::onnx
