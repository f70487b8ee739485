// SPDX-License-Identifier: Apache-2.0
// What the quantised operators share: which scale or zero point belongs to an element, and saturation.
#pragma once
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/workspace.h"
#include "ops/common/spread.h"
#include "tensor/tensor.h"

namespace sx::ops {

// Where the scale of each element of a tensor stands: one for all, one for each index of an axis, or one for
// each block of `block` along the axis.
class ScaleMap {
 public:
  static Result<ScaleMap> of(std::span<const int64_t> x, std::span<const int64_t> scale, int64_t axis,
                             int64_t block);
  int64_t at(int64_t flat) const {
    if (one_) return 0;
    const int64_t inner = flat % inner_, k = flat / inner_ % size_, outer = flat / inner_ / size_;
    return block_ == 0 ? k : (outer * blocks_ + k / block_) * inner_ + inner;
  }

 private:
  bool one_ = true;
  int64_t inner_ = 1, size_ = 1, block_ = 0, blocks_ = 1;
};

// One number, a vector along `axis` of `t`, or what broadcasts to `t`: scales and zero points of a matrix or
// weight.
Result<Spread> along_axis(const Tensor& parameter, const Tensor& t, size_t axis);

// The elements of an integer tensor with their zero point (see along_axis) taken off.
Result<Workspace<int32_t>> centred(const Tensor& t, const Tensor* zero_point, size_t axis);

// rint(x) + zero kept within the integer type; NaN becomes the zero point.
double quantised(double x, double zero, DType type);

}  // namespace sx::ops
