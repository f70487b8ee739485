// SPDX-License-Identifier: Apache-2.0
#include "key_table.h"

#include <bit>
#include <cmath>

#include "base/hash.h"

namespace sx::cpu {

uint64_t KeyTable::long_hash(std::string_view s) { return hash_text(s); }

int64_t KeyTable::bits_of(float key) {
  if (std::isnan(key)) return INT64_MIN;  // no float's bits
  return key == 0 ? 0 : int64_t(std::bit_cast<uint32_t>(key));
}

void KeyTable::reserve(size_t keys) {
  entries_.assign(std::bit_ceil(2 * keys + 1), Entry());
  mask_ = entries_.size() - 1;
}

void KeyTable::add(uint64_t at, const Entry& entry) {
  size_t k = at & mask_;
  while (entries_[k].place >= 0) k = (k + 1) & mask_;
  entries_[k] = entry;
}

KeyTable KeyTable::of_texts(std::span<const std::string> keys) {
  KeyTable t;
  t.reserve(keys.size());
  for (size_t k = 0; k < keys.size(); ++k) {
    if (t.find(keys[k]) >= 0) continue;
    const Entry e = {int64_t(t.texts_.size()), uint32_t(keys[k].size()), int32_t(k)};
    t.texts_ += keys[k];
    t.add(hash(keys[k]), e);
  }
  return t;
}

KeyTable KeyTable::of_ints(std::span<const int64_t> keys) {
  KeyTable t;
  t.reserve(keys.size());
  for (size_t k = 0; k < keys.size(); ++k) {
    if (t.find(keys[k]) < 0) t.add(mix(uint64_t(keys[k])), {keys[k], 0, int32_t(k)});
  }
  return t;
}

KeyTable KeyTable::of_floats(std::span<const float> keys) {
  std::vector<int64_t> bits(keys.size());
  for (size_t k = 0; k < keys.size(); ++k) bits[k] = bits_of(keys[k]);
  return of_ints(bits);
}

}  // namespace sx::cpu
