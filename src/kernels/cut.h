// SPDX-License-Identifier: Apache-2.0
// How products are cut into chunks: by shape alone.
#pragma once
#include <algorithm>
#include <cstddef>

#include "kernels/tile.h"

namespace sx::kernels {

inline size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }

// Where piece i begins when `total` is cut into `pieces` nearly equal parts.
inline size_t cut(size_t total, size_t pieces, size_t i) { return total * i / pieces; }

constexpr size_t kMaxInner = 2048;  // values of the inner dimension summed before a result is written
constexpr size_t kRowBlockFloats = 96 * 1024;  // of a chunk's rows that stay in the second-level cache
constexpr size_t kSquareFloats = 8 * 1024;     // of one Winograd point of a chunk's squares: 512 kB for all
constexpr size_t kMinChunkWork = 512 * 1024;   // multiplications: some 10 microseconds
constexpr size_t kWorkPerLook = 256 * 1024;    // multiplications of a vector between looks at a stop flag
constexpr size_t kChunks = 48;                 // enough to balance any few threads

// How many of `panels` panels a chunk takes, given the multiplications of one panel in one chunk's rows and
// the work of the whole: groups of four or more, since rows copied for a chunk should serve many columns.
inline size_t panels_per_chunk(size_t panels, size_t panel_work, size_t total_work) {
  const size_t wanted = std::max(kMinChunkWork, total_work / kChunks) / std::max<size_t>(1, panel_work);
  return std::min(std::max<size_t>(1, panels), divide_up(std::max<size_t>(1, wanted), 4) * 4);
}

struct Together {
  size_t panels;
  TileFn fn;  // null: one panel, by the tables of single ones
};

// Few rows take several panels at once, so that there are sums enough to hide each other's latency. `left`
// panels of two vectors are there.
inline Together panels_together(const TileTable& tiles, size_t rows, size_t left) {
  if (rows > 4) return {1, nullptr};
  const size_t wide = tiles.wide_panels[rows - 1];
  if (wide > 1 && wide <= left) return {wide, tiles.wide[rows - 1]};
  if (wide > 2 && left >= 2) return {2, tiles.pair[rows - 1]};
  return {1, nullptr};
}

// Rows of k values in one piece of memory, `length` of them to a sum.
inline void sum_in_pieces(TileArgs& t, size_t k, size_t length) {
  t.inner = length;
  t.steps = k / length;
  t.last = k % length;
  t.steps_per_sum = 1;
}

}  // namespace sx::kernels
