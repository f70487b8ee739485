// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

namespace sx {

Utf8Char first_char(std::string_view text, Surrogates surrogates) {
  if (text.empty()) return {};
  const auto a = uint8_t(text[0]);
  if (a < 0x80) return {a, 1};
  const size_t n = a < 0xc2 ? 0 : a < 0xe0 ? 2 : a < 0xf0 ? 3 : a < 0xf5 ? 4 : 0;
  if (n == 0 || n > text.size()) return {};
  uint32_t code = a & (0xffu >> (n + 1));
  for (size_t k = 1; k < n; ++k) {
    const auto b = uint8_t(text[k]);
    if ((b & 0xc0) != 0x80) return {};
    code = code << 6 | (b & 0x3fu);
  }
  const bool overlong = (n == 3 && code < 0x800) || (n == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (overlong || code > 0x10ffff || (surrogate && surrogates == Surrogates::refused)) return {};
  return {code, n};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t n = first_char(text).bytes;
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

void append_utf8(std::string& to, uint32_t code) {
  if (code < 0x80) {
    to += char(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint32_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  to += char(kLead[more] | code >> (6 * more));
  for (int k = more - 1; k >= 0; --k) to += char(0x80 | (code >> (6 * k) & 0x3f));
}

}  // namespace sx
