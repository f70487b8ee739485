// SPDX-License-Identifier: Apache-2.0
// Hashes for tables and caches; not for security.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sx {

uint64_t hash_bytes(const void* data, size_t size, uint64_t seed = 0);
inline uint64_t hash_text(std::string_view text, uint64_t seed = 0) {
  return hash_bytes(text.data(), text.size(), seed);
}
inline uint64_t hash_mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9ull;
  return x ^ (x >> 29);
}

}  // namespace sx
