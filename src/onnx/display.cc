// SPDX-License-Identifier: Apache-2.0
#include "onnx/display.h"

#include <cstdint>

#include "base/utf8.h"

namespace sx::onnx {

size_t shown_sequence(std::string_view s, size_t i) {
  const auto [code, bytes] = first_char(s.substr(i));
  if (code < 0x80) return code >= 0x20 && code != 0x7f ? bytes : 0;
  // C1 controls, and the marks that turn the direction of writing or break lines.
  const bool control = code < 0xa0 || code == 0xad || (code >= 0x200b && code <= 0x200f) ||
                       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
                       code == 0xfeff;
  return control ? 0 : bytes;
}

std::string escaped(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    if (const size_t n = shown_sequence(text, i)) {
      if (text[i] == '\\') out += '\\';
      out.append(text, i, n);
      i += n;
      continue;
    }
    const auto c = uint8_t(text[i++]);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += "\\x";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    }
  }
  return out;
}

std::string quoted(std::string_view text, size_t limit) {
  if (text.size() <= limit) return "'" + escaped(text) + "'";
  while (limit > 0 && (uint8_t(text[limit]) & 0xc0) == 0x80) --limit;
  return "'" + escaped(text.substr(0, limit)) + "…'";
}

std::string shown(const Status& status) {
  std::string text;
  for (auto it = status.context().rbegin(); it != status.context().rend(); ++it) text += escaped(*it) + ": ";
  std::string_view rest = status.message();
  for (size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
    text += escaped(rest.substr(0, end)) + "\n";
  }
  return text + escaped(rest);
}

}  // namespace sx::onnx
