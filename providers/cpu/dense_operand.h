// SPDX-License-Identifier: Apache-2.0
// DenseOperand: an operand of floats whose strides a kernel cannot walk is copied into the step's scratch
// memory first.
#pragma once
#include <optional>

#include "base/parallel.h"
#include "kernels/strided_copy.h"
#include "tensor/tensor.h"

namespace sx::cpu {

class DenseOperand {
 public:
  // From now on the operand lies densely, `floats` into the scratch memory, which grows by its size.
  Status copy_to(View& v, size_t& floats) {
    const std::vector<size_t> sizes(v.dims.begin(), v.dims.end());
    const Dims now = v.strides.empty() ? contiguous_strides(v.dims) : v.strides;
    v.strides = contiguous_strides(v.dims);
    const std::vector<ptrdiff_t> from(now.begin(), now.end()), to(v.strides.begin(), v.strides.end());
    SX_ASSIGN(plan_, kernels::CopyPlan::make(sizeof(float), sizes, from, to));
    at_ = floats;
    floats += size_t(v.count()) + 16;
    return {};
  }
  const float* data(const View& v, float* scratch, Parallel& parallel) const {
    if (!plan_) return v.as<float>();
    if (v.count() > 0) kernels::copy_run(*plan_, v.data, scratch + at_, parallel);
    return scratch + at_;
  }

 private:
  std::optional<kernels::CopyPlan> plan_;
  size_t at_ = 0;
};

}  // namespace sx::cpu
