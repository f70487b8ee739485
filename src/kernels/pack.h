// SPDX-License-Identifier: Apache-2.0
// Copies between plain matrices and the forms that tiles read. Plain structs and declarations only.
#pragma once
#include <cstddef>

namespace sx::kernels {

// Panel `cols` wide of B[k, ...] (or, transposed, of rows of k values) into packed[k][width], zeros beyond
// cols.
typedef void (*PackPanelFn)(const void* b, size_t ldb, bool transposed, size_t k, size_t cols, size_t width,
                            float* packed);
// `rows` rows of k values, stored as rows or (transposed) as columns, to rows `stride` floats apart.
typedef void (*CopyRowsFn)(const float* a, size_t lda, bool transposed, size_t rows, size_t k, float* to,
                           size_t stride);

struct PackTable {
  PackPanelFn panel;
  CopyRowsFn rows;
};

// What this vector level uses.
PackTable pack_table();
const struct TileTable* tile_table();

// Floats between copied rows of k values: whole cache lines, an odd number of them, so that neighbouring rows
// fall into different cache sets.
size_t copied_row_stride(size_t k);

}  // namespace sx::kernels
