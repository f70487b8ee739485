// SPDX-License-Identifier: Apache-2.0
// A pointwise program as the last act of a product or convolution: set Epilogue::post = pointwise_post and
// Epilogue::post_context = a PointwiseEpilogue.
#pragma once
#include <cstddef>

#include "kernels/pointwise.h"

namespace sx::kernels {

// Input 0 of the program is the block of results (f32), output 0 takes its place; the program has no other
// output. Extra input i, element (entry, row, column) of the block that begins at (row0, col0), lies at
//   data + entry * per_entry + row0 * per_row + col0 * per_first_column + r * per_row + c * per_column.
// Plain layout: per_first_column = per_column. Blocked: per_column = 1 and per_first_column = positions of an
// image for a whole tensor, 1 for one value a channel.
struct PointwiseEpilogue {
  struct Extra {
    const void* data;
    ptrdiff_t per_entry, per_row, per_first_column, per_column;  // elements
  };
  const PointwiseProgram* program = nullptr;
  Extra extras[kPwMaxInputs - 1] = {};
};

void pointwise_post(void* context, float* rows, size_t entry, size_t row0, size_t nrows, size_t col0,
                    size_t ncols, size_t stride);

}  // namespace sx::kernels
