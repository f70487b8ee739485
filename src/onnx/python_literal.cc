// SPDX-License-Identifier: Apache-2.0
#include "onnx/python_literal.h"

#include <cstdlib>

#include "base/format.h"
#include "onnx/display.h"
#include "onnx/text_tensor.h"

namespace sx::onnx {
namespace {

// The code point of the well-formed sequence at the start of `s`, and its length; 0 if it is malformed.
size_t decode(std::string_view s, uint32_t& code) {
  const auto a = uint8_t(s[0]);
  const size_t n = a < 0x80                ? 1
                   : a >= 0xc2 && a < 0xe0 ? 2
                   : (a & 0xf0) == 0xe0    ? 3
                   : a >= 0xf0 && a < 0xf5 ? 4
                                           : 0;
  if (n == 0 || n > s.size()) return 0;
  code = n == 1 ? a : a & (0xffu >> (n + 1));
  for (size_t k = 1; k < n; ++k) {
    if ((uint8_t(s[k]) & 0xc0) != 0x80) return 0;
    code = code << 6 | (uint8_t(s[k]) & 0x3f);
  }
  const bool overlong = (n == 3 && code < 0x800) || (n == 4 && code < 0x10000);
  return overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : n;
}

std::string quoted_text(std::string_view text, bool as_bytes) {
  std::string out = as_bytes ? "b\"" : "\"";
  for (size_t i = 0; i < text.size();) {
    const auto c = uint8_t(text[i]);
    const size_t shown = as_bytes && c >= 0x80 ? 0 : shown_sequence(text, i);
    if (shown > 0) {
      if (c == '"' || c == '\\') out += '\\';
      out.append(text, i, shown);
      i += shown;
    } else if (c == '\n' || c == '\t') {
      out += c == '\n' ? "\\n" : "\\t";
      ++i;
    } else {
      uint32_t code = c;
      i += as_bytes ? 1 : std::max<size_t>(decode(text.substr(i), code), 1);
      out += code < 0x100     ? format("\\x{:02x}", code)
             : code < 0x10000 ? format("\\u{:04x}", code)
                              : format("\\U{:08x}", code);
    }
  }
  return out + '"';
}

}  // namespace

bool is_utf8(std::string_view text) {
  uint32_t code = 0;
  while (!text.empty()) {
    const size_t n = decode(text, code);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

std::string python_text(std::string_view utf8) { return quoted_text(utf8, false); }
std::string python_bytes(std::string_view bytes) { return quoted_text(bytes, true); }

template <class T>
std::string python_number(T value) {
  std::string out;
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "np.nan";
    if (std::isinf(value)) return value < 0 ? "-np.inf" : "np.inf";
    append_number(out, value);
    // Python reads a double and rounds it again, which may be another float than the shortest text means.
    if (T(std::strtod(out.c_str(), nullptr)) != value) {
      out.clear();
      append_number(out, double(value));
    }
    if (out.find_first_of(".e") == std::string::npos) out += ".0";
    return out;
  }
  append_number(out, value);
  return out;
}

template <class T>
std::string python_numbers(std::span<const T> values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += (i ? ", " : "") + python_number(values[i]);
  return out + "]";
}

#define SX_NUMBER(T)                     \
  template std::string python_number(T); \
  template std::string python_numbers(std::span<const T>);
SX_NUMBER(int32_t)
SX_NUMBER(int64_t)
SX_NUMBER(uint32_t)
SX_NUMBER(uint64_t)
SX_NUMBER(float)
SX_NUMBER(double)
#undef SX_NUMBER

}  // namespace sx::onnx
