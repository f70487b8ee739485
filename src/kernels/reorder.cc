// SPDX-License-Identifier: Apache-2.0
// Cuts a reorder into pieces of some thousand elements, each within one channel block.
#include "kernels/reorder.h"

#include <algorithm>

#include "kernels/dispatch.h"

SX_LEVELS(size_t lanes(); void block_channels(const float* plain, float* blocked, size_t channels,
                                              size_t space, size_t first, size_t last, size_t block);
          void unblock_channels(const float* blocked, float* plain, size_t channels, size_t space,
                                size_t first, size_t last, size_t block))

namespace sx::kernels {

namespace {

constexpr size_t kElementsPerChunk = 16384;

// Calls body(image and block number, first position, last position) in pieces.
template <class Body>
void for_pieces(size_t planes, size_t space, size_t block, Parallel& parallel, Body body) {
  const size_t step = std::max<size_t>(block, kElementsPerChunk / block);
  const size_t pieces = (space + step - 1) / step;
  const size_t per_chunk =
      std::max<size_t>(1, kElementsPerChunk / std::max<size_t>(1, std::min(step, space) * block));
  const size_t total = planes * pieces;
  parallel.run((total + per_chunk - 1) / per_chunk, [&](size_t chunk, size_t) {
    const size_t end = std::min(total, (chunk + 1) * per_chunk);
    for (size_t i = chunk * per_chunk; i < end; ++i) {
      const size_t first = i % pieces * step;
      body(i / pieces, first, std::min(space, first + step));
    }
  });
}

}  // namespace

size_t channel_block() { return SX_PICK(lanes)(); }

size_t blocked_size(size_t batch, size_t channels, size_t space, size_t block) {
  return batch * ((channels + block - 1) / block) * block * space;
}

void to_blocked(const float* plain, float* blocked, size_t batch, size_t channels, size_t space, size_t block,
                Parallel& parallel) {
  auto* work = SX_PICK(block_channels);
  const size_t blocks = (channels + block - 1) / block;
  for_pieces(batch * blocks, space, block, parallel, [&](size_t plane, size_t first, size_t last) {
    const size_t image = plane / blocks, c = plane % blocks * block;
    work(plain + (image * channels + c) * space, blocked + plane * space * block,
         std::min(block, channels - c), space, first, last, block);
  });
}

void from_blocked(const float* blocked, float* plain, size_t batch, size_t channels, size_t space,
                  size_t block, Parallel& parallel) {
  auto* work = SX_PICK(unblock_channels);
  const size_t blocks = (channels + block - 1) / block;
  for_pieces(batch * blocks, space, block, parallel, [&](size_t plane, size_t first, size_t last) {
    const size_t image = plane / blocks, c = plane % blocks * block;
    work(blocked + plane * space * block, plain + (image * channels + c) * space,
         std::min(block, channels - c), space, first, last, block);
  });
}

}  // namespace sx::kernels
