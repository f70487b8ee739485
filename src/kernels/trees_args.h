// SPDX-License-Identifier: Apache-2.0
// Complete trees as the vector levels see them. Plain values only.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sx::kernels {

constexpr uint32_t kNanLeft = 0x80000000u;  // in a split's feature: NaN goes to the true side
constexpr size_t kWideRows = 64;            // rows that a wide walk takes at once
constexpr size_t kWideDepth = 7;            // of its trees, at most

struct TreeSplit {  // of a complete tree: true side when x <= threshold
  float threshold;
  uint32_t feature;  // perhaps with kNanLeft
};

// Trees of one depth that follow each other; the sums of tree t's first target, kWideRows of them, are at
// sums + target[t * target_step] * kWideRows, and those of its next targets behind them.
struct WideTrees {
  const TreeSplit* splits;  // 2^depth for each tree, the last unused
  const float* leaves;      // [width][2^depth] for each tree
  const uint32_t* target;
  size_t target_step, count, depth, width;
  const float* x;  // [feature][kWideRows]
  float* sums;
  bool nan_left;  // some split has kNanLeft
};

}  // namespace sx::kernels
