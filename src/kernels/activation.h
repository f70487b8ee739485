// SPDX-License-Identifier: Apache-2.0
// The activations of an epilogue, applied in place to rows that lie in the cache.
#pragma once
#include <cstddef>

#include "kernels/epilogue.h"

namespace sx::kernels {

typedef void (*ActivateFn)(Activation kind, float low, float high, float* rows, size_t nrows, size_t ncols,
                           size_t stride);

// The function of this vector level.
ActivateFn activate_rows();

// Whether clamping to [low, high] is all that the activation does; then low and high are filled in.
bool is_clip(const Epilogue& epilogue, float& low, float& high);

}  // namespace sx::kernels
