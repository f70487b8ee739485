// SPDX-License-Identifier: Apache-2.0
#include "onnx/display.h"

#include <cstdint>

namespace sx::onnx {

size_t shown_sequence(std::string_view s, size_t i) {
  const auto byte = [&](size_t k) { return k < s.size() ? uint8_t(s[k]) : 0u; };
  const unsigned a = byte(i);
  if (a >= 0x20 && a < 0x7f) return 1;
  size_t n = a >= 0xc2 && a < 0xe0 ? 2 : a >= 0xe0 && a < 0xf0 ? 3 : a >= 0xf0 && a < 0xf5 ? 4 : 0;
  if (n == 0) return 0;
  uint32_t code = a & (0xff >> (n + 1));
  for (size_t k = 1; k < n; ++k) {
    if ((byte(i + k) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i + k) & 0x3f);
  }
  static constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
  // C1 controls, and the marks that turn the direction of writing or break lines.
  const bool control = code < 0xa0 || code == 0xad || (code >= 0x200b && code <= 0x200f) ||
                       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
                       code == 0xfeff;
  return control ? 0 : n;
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

}  // namespace sx::onnx
