// SPDX-License-Identifier: Apache-2.0
#include "ops/text/utf8.h"

#include <utf8proc.h>

#include "base/task.h"

namespace sx::ops {
namespace {

// The code point at the start and its length in bytes; a negative code point for one byte that is no UTF-8.
size_t next(std::string_view text, utf8proc_int32_t& code) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t n = utf8proc_iterate(bytes, utf8proc_ssize_t(text.size()), &code);
  if (n > 0) return size_t(n);
  code = -1;
  return 1;
}

std::string mapped(std::string_view text, utf8proc_int32_t (*map)(utf8proc_int32_t)) {
  std::string to;
  to.reserve(text.size());
  StopCheck<> stop;
  while (!text.empty() && !stop()) {
    utf8proc_int32_t code;
    const size_t n = next(text, code);
    if (code < 0) {
      to += text[0];
    } else {
      utf8proc_uint8_t bytes[4];
      const utf8proc_ssize_t written = utf8proc_encode_char(map(code), bytes);
      to.append(reinterpret_cast<const char*>(bytes), size_t(written));
    }
    text.remove_prefix(n);
  }
  return to;
}

bool is_space(utf8proc_int32_t code) {
  if ((code >= 9 && code <= 13) || (code >= 0x1c && code <= 0x20) || code == 0x85) return true;
  if (code < 0x80) return false;
  const utf8proc_category_t c = utf8proc_category(code);
  return c == UTF8PROC_CATEGORY_ZS || c == UTF8PROC_CATEGORY_ZL || c == UTF8PROC_CATEGORY_ZP;
}

}  // namespace

std::string lower_case(std::string_view text) { return mapped(text, utf8proc_tolower); }
std::string upper_case(std::string_view text) { return mapped(text, utf8proc_toupper); }

size_t leading_space(std::string_view text) {
  size_t length = 0;
  while (length < text.size()) {
    utf8proc_int32_t code;
    const size_t n = next(text.substr(length), code);
    if (code < 0 || !is_space(code)) break;
    length += n;
  }
  return length;
}

}  // namespace sx::ops
