// SPDX-License-Identifier: Apache-2.0
// One channel block of an image between plain and blocked layout, square by square.
#include "kernels/transpose.h"
#include "kernels/vec.h"

namespace sx::SX_ISA {

size_t lanes() { return kLanes; }

// `plain` holds `channels` <= block planes of `space` floats; positions [first, last) move.
void block_channels(const float* plain, float* blocked, size_t channels, size_t space, size_t first,
                    size_t last, size_t block) {
  size_t s = first;
  if (block == kLanes) {
    for (; s + kLanes <= last; s += kLanes) {
      Vec rows[kLanes];
      SX_UNROLL
      for (size_t c = 0; c < kLanes; ++c) rows[c] = c < channels ? load(plain + c * space + s) : zero();
      transpose(rows);
      SX_UNROLL
      for (size_t i = 0; i < kLanes; ++i) store(blocked + (s + i) * block, rows[i]);
    }
  }
  for (; s < last; ++s)
    for (size_t c = 0; c < block; ++c) blocked[s * block + c] = c < channels ? plain[c * space + s] : 0.0f;
}

void unblock_channels(const float* blocked, float* plain, size_t channels, size_t space, size_t first,
                      size_t last, size_t block) {
  size_t s = first;
  if (block == kLanes) {
    for (; s + kLanes <= last; s += kLanes) {
      Vec rows[kLanes];
      SX_UNROLL
      for (size_t i = 0; i < kLanes; ++i) rows[i] = load(blocked + (s + i) * block);
      transpose(rows);
      SX_UNROLL
      for (size_t c = 0; c < kLanes; ++c)
        if (c < channels) store(plain + c * space + s, rows[c]);
    }
  }
  for (; s < last; ++s)
    for (size_t c = 0; c < channels; ++c) plain[c * space + s] = blocked[s * block + c];
}

}  // namespace sx::SX_ISA
