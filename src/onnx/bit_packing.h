// SPDX-License-Identifier: Apache-2.0
// Elements of less than a byte: float6 as raw data packs it, and one element in a byte as numpy keeps small
// types. Internal to src/onnx.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sx::onnx {

inline uint64_t packed_6bit_size(uint64_t count) { return count / 4 * 3 + (count % 4 * 6 + 7) / 8; }
void unpack_6bit(std::span<const uint8_t> packed,
                 std::span<uint8_t> to);  // `to` has one byte for each element
std::vector<uint8_t> pack_6bit(std::span<const uint8_t> elements);

// 2 or 4 bits, the first element in the lowest bits. Unpacked bytes are zero- or sign-extended.
void unpack_small(const uint8_t* packed, size_t count, int bits, bool sign, uint8_t* to);
void pack_small(const uint8_t* elements, size_t count, int bits, uint8_t* to);

}  // namespace sx::onnx
