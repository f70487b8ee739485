// SPDX-License-Identifier: Apache-2.0
// Texts, bytes and numbers as Python writes them. Internal to src/onnx.
#pragma once
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace sx::onnx {

std::string python_text(std::string_view utf8);    // "a\u2028b"
std::string python_bytes(std::string_view bytes);  // b"\x00"

// A number that Python reads back as the same: not a NaN of unusual bits.
template <class T>
std::string python_number(T value);
template <class T>
std::string python_numbers(std::span<const T> values);  // [1, 2]

// Whether the package can be given the number: a Python float has no signalling or negative NaN to give.
template <class T>
bool is_sayable(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr Bits kNan = sizeof(T) == 4 ? Bits(0x7fc00000) : Bits(uint64_t(0x7ff8) << 48);
    Bits bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return !std::isnan(value) || bits == kNan;
  }
  return true;
}

}  // namespace sx::onnx
