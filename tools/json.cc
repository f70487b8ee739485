// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/utf8.h"
#include "onnx/display.h"

namespace sx::tools {

void Json::comma() {
  if (!first_ && !after_key_) out_ += ',';
  first_ = after_key_ = false;
}

Json& Json::open(char c) {
  comma();
  out_ += c;
  first_ = true;
  return *this;
}

Json& Json::close(char c) {
  out_ += c;
  first_ = false;
  return *this;
}

Json& Json::key(std::string_view name) {
  text(name);
  out_ += ':';
  after_key_ = true;
  return *this;
}

// Bytes that are not UTF-8 become U+FFFD: a JSON document has to be text.
Json& Json::text(std::string_view value) {
  comma();
  out_ += '"';
  while (!value.empty()) {
    const auto [code, bytes] = first_char(value);
    const std::string_view whole = value.substr(0, bytes);
    if (bytes == 0) {
      out_ += "\xef\xbf\xbd";
    } else if (code == '"' || code == '\\') {
      out_ += '\\';
      out_ += whole;
    } else if (onnx::shown_sequence(value, 0) > 0) {
      out_ += whole;
    } else {  // what a terminal should not be sent: all of it below U+10000
      out_ += format("\\u{:04x}", code);
    }
    value.remove_prefix(std::max<size_t>(bytes, 1));
  }
  out_ += '"';
  return *this;
}

Json& Json::number(double value) {
  if (!std::isfinite(value)) return null();
  comma();
  out_ += format("{:.17g}", value);
  return *this;
}

Json& Json::integer(int64_t value) {
  comma();
  out_ += std::to_string(value);
  return *this;
}

Json& Json::boolean(bool value) {
  comma();
  out_ += value ? "true" : "false";
  return *this;
}

Json& Json::null() {
  comma();
  out_ += "null";
  return *this;
}

}  // namespace sx::tools
