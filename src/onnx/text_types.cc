// SPDX-License-Identifier: Apache-2.0
#include "onnx/text_types.h"

#include "onnx/display.h"
#include "onnx/text_lexer.h"

namespace sx::onnx {
namespace {

constexpr std::string_view kAttributeTypes[] = {
    "",        "float",   "int",    "string",        "tensor",         "graph",      "floats",     "ints",
    "strings", "tensors", "graphs", "sparse_tensor", "sparse_tensors", "type_proto", "type_protos"};

}  // namespace

std::string_view text_type_name(DType type) {
  if (type == DType::f32) return "float";
  if (type == DType::f64) return "double";
  return type == DType::undefined ? std::string_view() : dtype_name(type);
}

DType text_type(std::string_view name) {
  for (int i = 1; i < kDTypeCount; ++i) {
    if (text_type_name(DType(i)) == name) return DType(i);
  }
  return DType::undefined;
}

std::string_view text_attribute_type(AttributeType type) {
  const auto i = size_t(type);
  return i < std::size(kAttributeTypes) ? kAttributeTypes[i] : std::string_view();
}

AttributeType parse_attribute_type(std::string_view name) {
  for (size_t i = 1; i < std::size(kAttributeTypes); ++i) {
    if (kAttributeTypes[i] == name) return AttributeType(i);
  }
  return AttributeType::undefined;
}

bool is_type_word(std::string_view word) {
  return word == "seq" || word == "map" || word == "optional" || word == "sparse_tensor" ||
         word == "opaque" || text_type(word) != DType::undefined;
}

bool is_special_float(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? char(c | 0x20) : c;
  return lower == "nan" || lower == "inf" || lower == "infinity";
}

bool is_dotted_name(std::string_view text) {
  for (;;) {
    const size_t dot = text.find('.');
    if (!is_identifier(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_plain_text(std::string_view text) { return plain_text(text) == text; }

std::string plain_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t n = shown_sequence(text, i);
    const bool allowed = n > 0 || text[i] == '\n' || text[i] == '\t';
    if (allowed) {
      out.append(text, i, n > 0 ? n : 1);
    } else {
      out += '?';
    }
    i += n > 0 ? n : 1;
  }
  return out;
}

}  // namespace sx::onnx
