// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <cmath>

#include "base/format.h"
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
  for (size_t i = 0; i < value.size();) {
    const auto c = uint8_t(value[i]);
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += value[i++];
    } else if (c < 0x20 || c == 0x7f) {
      out_ += format("\\u{:04x}", c);
      ++i;
    } else if (const size_t n = c < 0x80 ? 1 : onnx::shown_sequence(value, i); n > 0) {
      out_ += value.substr(i, n);
      i += n;
    } else {
      out_ += "\xef\xbf\xbd";
      ++i;
    }
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
