// SPDX-License-Identifier: Apache-2.0
// Picks packing code and tiles of a vector level.
#include "kernels/pack.h"

#include "kernels/dispatch.h"
#include "kernels/tile.h"

SX_LEVELS(void pack_panel(const void* b, size_t ldb, bool transposed, size_t k, size_t cols, size_t width,
                          float* packed);
          void copy_rows(const float* a, size_t lda, bool transposed, size_t rows, size_t k, float* to,
                         size_t stride);
          extern const kernels::TileTable kTiles)

namespace sx::kernels {

PackTable pack_table() { return {SX_PICK(pack_panel), SX_PICK(copy_rows)}; }

const TileTable* tile_table() { return SX_PICK(kTiles); }

size_t copied_row_stride(size_t k) {
  const size_t lines = (k + 15) / 16;
  return (lines | 1) * 16;
}

}  // namespace sx::kernels
