// SPDX-License-Identifier: Apache-2.0
// The elements of a tensor in ONNX text. Internal to src/onnx.
#pragma once
#include <string>

#include "base/result.h"
#include "onnx/model.h"
#include "onnx/text_lexer.h"

namespace sx::onnx {

enum class PayloadForm {
  typed,     // the printed elements give back the typed field
  raw,       // the printed elements, turned into bytes, give back raw_data
  raw_odd,   // printed too, but not exactly: NaNs of unusual bits, bools other than 0 and 1
  external,  // printed as ["location": "…"]
  odd,       // cannot be printed: broken, missing, or in several fields
};
PayloadForm payload_form(const TensorProto& tensor);

void print_elements(const TensorProto& tensor, PayloadForm form,
                    std::string& to);                          // {1, 2} or ["location": "w"]
Status parse_elements(TextLexer& lexer, TensorProto& tensor);  // after the type and the name
Status move_to_raw(TensorProto& tensor);                       // typed elements into raw_data

template <class T>
void append_number(std::string& to, T value);  // the shortest text that reads back as the same number
void append_quoted(std::string& to, std::string_view text);  // for the official parser: \" and \\ only

}  // namespace sx::onnx
