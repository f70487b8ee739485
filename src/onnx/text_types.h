// SPDX-License-Identifier: Apache-2.0
// The words of ONNX text for element types and attribute types, and what can stand in it as it is.
// Internal to src/onnx.
#pragma once
#include <string>
#include <string_view>

#include "onnx/model.h"
#include "tensor/dtype.h"

namespace sx::onnx {

std::string_view text_type_name(DType type);  // "float", "int64"; empty for none
DType text_type(std::string_view name);       // undefined for none
std::string_view text_attribute_type(AttributeType type);
AttributeType parse_attribute_type(std::string_view name);
bool is_type_word(std::string_view word);  // begins a type: an element type, seq, map, optional …

bool is_special_float(std::string_view word);  // nan, inf, infinity in any case
bool is_dotted_name(std::string_view text);    // identifiers joined by dots: ai.onnx.ml

// Bytes that the official parser can read inside quotes: UTF-8 without control characters but newline and
// tab.
bool is_plain_text(std::string_view text);
std::string plain_text(std::string_view text);  // with '?' for what cannot be said

}  // namespace sx::onnx
