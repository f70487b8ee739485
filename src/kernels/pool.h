// SPDX-License-Identifier: Apache-2.0
// Max and average pooling in one to three dimensions, on plain [planes][space] or on the blocked layout of
// reorder.h, and global pooling on both. The caller gives the whole geometry, so rounding of the output size
// is its business.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"

namespace sx::kernels {

enum class PoolKind : uint8_t {
  max,
  average,               // over the elements that exist
  average_with_padding,  // over the elements of the padded input
};

// Dimensions are depth, height, width; those that a tensor has not are 1 (padding 0).
struct PoolShape {
  PoolKind kind = PoolKind::max;
  size_t batch = 1, channels = 1;
  size_t block = 1;  // channels of a block, 1 for the plain layout
  size_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  size_t kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1};
  size_t pad_begin[3] = {0, 0, 0}, pad_end[3] = {0, 0, 0};
};

// NaN wins in max. A window that meets no element gives -infinity in max and 0 in average. A block must be
// the lanes of a vector level that the machine has; padded lanes come out as zero.
void pool_run(const PoolShape& shape, const float* x, float* y, Parallel& parallel);

// Max or average over all of space: x is [batch][channel blocks][space][block], y [batch][channel
// blocks][block].
void global_pool_run(PoolKind kind, size_t batch, size_t channels, size_t space, size_t block, const float* x,
                     float* y, Parallel& parallel);

}  // namespace sx::kernels
