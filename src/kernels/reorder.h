// SPDX-License-Identifier: Apache-2.0
// Between plain NCHW and the blocked layout NCHWc: [batch][ceil(channels / block)][space][block], where the
// lanes beyond the last channel are zero.
#pragma once
#include <cstddef>

#include "base/parallel.h"

namespace sx::kernels {

// The block of this vector level: as many channels as a vector has floats.
size_t channel_block();

// Elements of one blocked tensor.
size_t blocked_size(size_t batch, size_t channels, size_t space, size_t block);

// `space` is the product of the spatial dimensions. Source and destination must not overlap.
void to_blocked(const float* plain, float* blocked, size_t batch, size_t channels, size_t space, size_t block,
                Parallel& parallel);
void from_blocked(const float* blocked, float* plain, size_t batch, size_t channels, size_t space,
                  size_t block, Parallel& parallel);

}  // namespace sx::kernels
