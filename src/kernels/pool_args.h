// SPDX-License-Identifier: Apache-2.0
// One output line of a pooling, as the compiled vector levels see it. Plain values only.
#pragma once
#include <cstddef>

namespace sx::kernels {

struct PoolLine {
  // Input lines that the window meets: planes_ x lines_, steps apart in elements. x is the first of them.
  const float* x;
  float* y;
  size_t planes, lines;
  ptrdiff_t plane_step, line_step;
  // Along the line, in positions.
  size_t in_width, out_width, kernel, stride, dilation, pad;
  bool max;
  size_t lanes;         // blocked: channels of this block that exist
  const float* divide;  // average: one factor for each output position
};

constexpr size_t kPoolBuffer = 4096;

}  // namespace sx::kernels
