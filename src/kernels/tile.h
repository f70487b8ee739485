// SPDX-License-Identifier: Apache-2.0
// The tile: up to max_rows x (2 * lanes) results of a matrix product held in registers over the whole inner
// dimension, then finished and stored. GEMM and every dense convolution are walks over such tiles.
// Plain structs only: this header is seen by every vector level.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sx::kernels {

// C[i][j] = clip(alpha * sum_k A[i][k] * B[k][j] + beta * add[i][j] + bias_scale * (bias_col[j] +
// bias_row[i]))
struct TileArgs {
  // A(i, k): the k-dimension comes in `steps` pieces of `inner` values, then one of `last` values (may be 0);
  // row i of piece s begins at a + step_offset[s] + i * a_row (step_offset null: at a + s * inner + i *
  // a_row). Each `steps_per_sum` pieces are summed for themselves, and those sums added: the rounding error
  // grows with the root of the longest chain of additions.
  const float* a;
  ptrdiff_t a_row;
  const ptrdiff_t* step_offset;
  size_t steps, inner, last, steps_per_sum;
  // B: panels of packed columns, [k][vectors of the panel]; b_panel floats between panels.
  const float* b;
  size_t b_panel;
  // Vector v of row i lies at c + i * c_row + v * c_vector. `cols` columns exist; the lanes beyond are not
  // touched, or, when zero_tail, stored as zeros (the padded lanes of a blocked layout).
  float* c;
  size_t c_row, c_vector, cols;
  const float* add;  // residual, or C itself when a sum goes on; addressed like c; may be null
  size_t add_row, add_vector;
  const float* bias_col;  // readable up to `cols`; may be null
  const float* bias_row;  // one value a row; may be null
  float alpha, beta, bias_scale;
  float low, high;  // used when clip
  uint8_t clip, zero_tail;
};

// Values of the inner dimension that go into one sum: as short as costs one or two hundredths of the
// speed.
constexpr size_t kSumLength = 96;

typedef void (*TileFn)(const TileArgs* args);

struct TileTable {
  size_t lanes;
  size_t max_rows;
  TileFn narrow[16];  // [rows - 1]: panels of one vector
  TileFn normal[16];  // [rows - 1]: panels of two vectors
  TileFn wide[4];     // [rows - 1]: wide_panels[rows - 1] panels of two vectors side by side, for few rows
  size_t wide_panels[4];
  TileFn pair[2];  // [rows - 1]: two panels side by side, where there are not enough for wide
};

}  // namespace sx::kernels
