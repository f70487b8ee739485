// SPDX-License-Identifier: Apache-2.0
// Softmax and log-softmax over one axis, seen as [outer, n, inner]. A scale and an additive mask can go in
// with it.
#pragma once
#include <cstddef>

#include "base/parallel.h"

namespace sx::kernels {

struct Softmax {
  size_t outer = 1, n = 0, inner = 1;
  ptrdiff_t x_stride = 0, y_stride = 0;  // between outer indices, in elements; [n, inner] is dense
  bool log = false;
  // Only where inner is 1: softmax(scale x + mask). Row r = (i, j, k) of mask_dims finds its mask row at
  // i s0 + j s1 + k s2 (0 where broadcast); the product of mask_dims is outer.
  float scale = 1.0f;
  size_t mask_dims[3] = {1, 1, 1};
  ptrdiff_t mask_strides[3] = {0, 0, 0};
};

// mask may be null; y may be x. A row of nothing but -infinity gives NaN, as the definition does.
void softmax_run(const Softmax& softmax, const float* x, const float* mask, float* y, Parallel& parallel);

}  // namespace sx::kernels
