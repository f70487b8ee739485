// SPDX-License-Identifier: Apache-2.0
// KeyTable: the place of a text or number in a list, found by hashing; of equal keys the first counts.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sx::cpu {

class KeyTable {
 public:
  KeyTable() = default;
  static KeyTable of_texts(std::span<const std::string> keys);
  static KeyTable of_ints(std::span<const int64_t> keys);
  static KeyTable of_floats(std::span<const float> keys);  // -0 equals 0, NaN equals NaN

  // The place, or -1.
  int64_t find(std::string_view key) const {
    for (size_t k = hash(key) & mask_;; k = (k + 1) & mask_) {
      const Entry& e = entries_[k];
      if (e.place < 0) return -1;
      if (e.size == key.size() && same(texts_.data() + e.key, key.data(), key.size())) return e.place;
    }
  }
  int64_t find(int64_t key) const {
    for (size_t k = mix(uint64_t(key)) & mask_;; k = (k + 1) & mask_) {
      const Entry& e = entries_[k];
      if (e.place < 0 || e.key == key) return e.place;
    }
  }
  int64_t find(float key) const { return find(bits_of(key)); }

 private:
  struct Entry {
    int64_t key = 0;  // a number, or where a text begins
    uint32_t size = 0;
    int32_t place = -1;
  };
  static uint64_t mix(uint64_t x) {
    x *= 0x9e3779b97f4a7c15ull;
    return x ^ (x >> 32);
  }
  template <class T>
  static uint64_t load(const char* p) {
    T v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  // A few bytes from both ends and the length; longer texts whole.
  static uint64_t hash(std::string_view s) {
    const char* p = s.data();
    const size_t n = s.size();
    if (n > 16) return long_hash(s);
    uint64_t a = 0, b = 0;
    if (n >= 8)
      a = load<uint64_t>(p), b = load<uint64_t>(p + n - 8);
    else if (n >= 4)
      a = load<uint32_t>(p), b = load<uint32_t>(p + n - 4);
    else if (n > 0)
      a = uint64_t(uint8_t(p[0])) | uint64_t(uint8_t(p[n / 2])) << 8 | uint64_t(uint8_t(p[n - 1])) << 16;
    return mix(a + n + (b << 7 | b >> 57) * 0xd6e8feb86659fd93ull);
  }
  static bool same(const char* a, const char* b, size_t n) {
    if (n > 16 || n < 4) return __builtin_memcmp(a, b, n) == 0;
    if (n >= 8)
      return load<uint64_t>(a) == load<uint64_t>(b) && load<uint64_t>(a + n - 8) == load<uint64_t>(b + n - 8);
    return load<uint32_t>(a) == load<uint32_t>(b) && load<uint32_t>(a + n - 4) == load<uint32_t>(b + n - 4);
  }
  static uint64_t long_hash(std::string_view s);
  static int64_t bits_of(float key);
  void reserve(size_t keys);
  void add(uint64_t at, const Entry& entry);

  std::vector<Entry> entries_;  // a power of two, at most half full
  std::string texts_;           // one after the other
  size_t mask_ = 0;
};

}  // namespace sx::cpu
