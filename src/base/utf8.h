// SPDX-License-Identifier: Apache-2.0
// Code points out of UTF-8 and into it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sx {

struct Utf8Char {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: the text does not start with a well-formed sequence
};

// Halves of UTF-16 pairs have no place in UTF-8, but strings from elsewhere may hold them.
enum class Surrogates { refused, taken };

Utf8Char first_char(std::string_view text, Surrogates surrogates = Surrogates::refused);
bool is_utf8(std::string_view text);
void append_utf8(std::string& to, uint32_t code);

}  // namespace sx
