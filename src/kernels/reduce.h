// SPDX-License-Identifier: Apache-2.0
// Reductions of a float tensor over any of its axes, and the index of the largest or smallest along one axis.
// Sums gather in float over short stretches and in double beyond, so that long axes lose nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/parallel.h"
#include "base/result.h"

namespace sx::kernels {

enum class ReduceOp : uint8_t { sum, mean, prod, max, min, sum_square, l1, l2, log_sum, log_sum_exp };

constexpr size_t kReduceMaxDims = 8;  // after neighbouring dimensions of one kind have been joined

class ReducePlan {
 public:
  // axes[d] says whether dimension d is reduced; strides are those of x in elements (any, also 0 or
  // negative). The result is dense, over the kept dimensions in order. Over no elements: sum 0, product 1,
  // max -infinity, min +infinity, mean NaN. NaN wins in max and min.
  static Result<ReducePlan> make(ReduceOp op, std::span<const size_t> dims,
                                 std::span<const ptrdiff_t> strides, std::span<const bool> axes);
  size_t results() const { return results_; }

 private:
  friend class ReduceRun;
  struct Dim {
    size_t size;
    ptrdiff_t stride;
  };
  ReduceOp op_ = ReduceOp::sum;
  Dim kept_[kReduceMaxDims] = {}, reduced_[kReduceMaxDims] = {};  // outermost first
  size_t kept_count_ = 0, reduced_count_ = 0;
  size_t results_ = 1, count_ = 1;  // count_: elements that make one result
  bool columns_ = false;            // the last kept dimension is dense, and vectors run along it
  size_t segments_ = 1;             // one result: how many parts of it run apart
};

void reduce_run(const ReducePlan& plan, const float* x, float* y, Parallel& parallel);

// Index of the largest (or smallest) along n of x[outer, n, inner], dense. The first NaN wins. last: of
// equals, the one with the highest index. n is at least 1 and at most 2^31 - 1.
void arg_extreme_run(bool smallest, bool last, size_t outer, size_t n, size_t inner, const float* x,
                     int64_t* y, Parallel& parallel);

}  // namespace sx::kernels
