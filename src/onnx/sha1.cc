// SPDX-License-Identifier: Apache-2.0
#include "onnx/sha1.h"

#include <bit>
#include <cstring>

#include "base/format.h"

namespace sx::onnx {
namespace {

void add_block(uint32_t (&h)[5], const uint8_t* block) {
  uint32_t w[80];
  for (int i = 0; i < 16; ++i) {
    uint32_t v;
    std::memcpy(&v, block + 4 * i, 4);
    w[i] = __builtin_bswap32(v);
  }
  for (int i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
  for (int i = 0; i < 80; ++i) {
    const uint32_t f = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999u
                       : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
                       : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu
                                : (b ^ c ^ d) + 0xca62c1d6u;
    const uint32_t next = std::rotl(a, 5) + f + e + w[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  h[0] += a;
  h[1] += b;
  h[2] += c;
  h[3] += d;
  h[4] += e;
}

}  // namespace

std::string sha1_hex(std::span<const uint8_t> bytes) {
  uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  size_t at = 0;
  for (; bytes.size() - at >= 64; at += 64) add_block(h, bytes.data() + at);
  uint8_t tail[128] = {};
  const size_t rest = bytes.size() - at;
  if (rest > 0) std::memcpy(tail, bytes.data() + at, rest);
  tail[rest] = 0x80;
  const size_t size = rest < 56 ? 64 : 128;
  const uint64_t bits = __builtin_bswap64(uint64_t(bytes.size()) * 8);
  std::memcpy(tail + size - 8, &bits, 8);
  for (size_t i = 0; i < size; i += 64) add_block(h, tail + i);
  return format("{:08x}{:08x}{:08x}{:08x}{:08x}", h[0], h[1], h[2], h[3], h[4]);
}

}  // namespace sx::onnx
