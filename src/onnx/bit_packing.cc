// SPDX-License-Identifier: Apache-2.0
#include "onnx/bit_packing.h"

#include <algorithm>
#include <cstring>

namespace sx::onnx {

void unpack_6bit(std::span<const uint8_t> packed, std::span<uint8_t> to) {
  for (size_t i = 0, from = 0; i < to.size(); i += 4, from += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3 && from + k < packed.size(); ++k) group |= uint32_t(packed[from + k]) << (8 * k);
    for (size_t k = 0; k < 4 && i + k < to.size(); ++k) to[i + k] = uint8_t(group >> (6 * k)) & 0x3f;
  }
}

std::vector<uint8_t> pack_6bit(std::span<const uint8_t> elements) {
  std::vector<uint8_t> packed(packed_6bit_size(elements.size()));
  for (size_t i = 0, to = 0; i < elements.size(); i += 4, to += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 4 && i + k < elements.size(); ++k)
      group |= uint32_t(elements[i + k] & 0x3f) << (6 * k);
    for (size_t k = 0; k < 3 && to + k < packed.size(); ++k) packed[to + k] = uint8_t(group >> (8 * k));
  }
  return packed;
}

void unpack_small(const uint8_t* packed, size_t count, int bits, bool sign, uint8_t* to) {
  const size_t per_byte = size_t(8 / bits);
  for (size_t i = 0; i < count; ++i) {
    const unsigned shift = unsigned(i % per_byte) * unsigned(bits);
    const auto high = uint8_t(uint8_t(packed[i / per_byte] >> shift) << (8 - bits));
    to[i] = sign ? uint8_t(int8_t(high) >> (8 - bits)) : uint8_t(high >> (8 - bits));
  }
}

void pack_small(const uint8_t* elements, size_t count, int bits, uint8_t* to) {
  const size_t per_byte = size_t(8 / bits);
  const auto mask = uint8_t((1 << bits) - 1);
  std::memset(to, 0, (count + per_byte - 1) / per_byte);
  for (size_t i = 0; i < count; ++i) {
    to[i / per_byte] |= uint8_t((elements[i] & mask) << (unsigned(i % per_byte) * unsigned(bits)));
  }
}

}  // namespace sx::onnx
