// SPDX-License-Identifier: Apache-2.0
// What happens to a product's results before they leave the cache: bias, residual, activation, a callback.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/epilogue_kinds.h"

namespace sx::kernels {

enum class BiasAxis : uint8_t { columns, rows };  // one value for each column (channel), or for each row

// result = activation(alpha * product + beta * residual + bias_scale * bias), then post.
struct Epilogue {
  float alpha = 1.0f;
  const float* bias = nullptr;
  BiasAxis bias_axis = BiasAxis::columns;
  float bias_scale = 1.0f;
  // Same shape as the output; may be the output itself. In a convolution it has the output's layout.
  const float* residual = nullptr;
  size_t residual_stride = 0;            // GEMM: floats between rows
  ptrdiff_t residual_batch[2] = {0, 0};  // GEMM: floats between batch entries
  float beta = 1.0f;
  Activation activation = Activation::none;
  float low = 0.0f, high = 0.0f;
  // Called for each finished block of rows while it is in the cache, from any worker: rows = &C[row0][col0],
  // rows `stride` floats apart, `entry` the batch entry or image. On a blocked convolution row0 is the output
  // position y * width + x and the columns are the channels of one block that exist; on a plain one rows are
  // channels and columns positions.
  void (*post)(void* context, float* rows, size_t entry, size_t row0, size_t nrows, size_t col0, size_t ncols,
               size_t stride) = nullptr;
  void* post_context = nullptr;
};

}  // namespace sx::kernels
