// SPDX-License-Identifier: Apache-2.0
#include "onnx/python_literal.h"

#include <algorithm>
#include <cstdlib>

#include "base/format.h"
#include "base/utf8.h"
#include "onnx/display.h"
#include "onnx/text_tensor.h"

namespace sx::onnx {
namespace {

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
      const Utf8Char whole = as_bytes ? Utf8Char() : first_char(text.substr(i));
      const uint32_t code = whole.bytes > 0 ? whole.code : c;
      i += std::max<size_t>(whole.bytes, 1);
      out += code < 0x100     ? format("\\x{:02x}", code)
             : code < 0x10000 ? format("\\u{:04x}", code)
                              : format("\\U{:08x}", code);
    }
  }
  return out + '"';
}

}  // namespace

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
