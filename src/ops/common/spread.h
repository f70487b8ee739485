// SPDX-License-Identifier: Apache-2.0
// Spread: which element of a small tensor stands at each element of a larger one that it broadcasts to.
#pragma once
#include <span>

#include "tensor/dims.h"

namespace sx::ops {

class Spread {
 public:
  // `dims` must broadcast to `to`.
  Spread(std::span<const int64_t> dims, std::span<const int64_t> to) : to_(to), steps_(to.size(), 0) {
    const Dims strides = contiguous_strides(dims);
    const size_t lead = to.size() - dims.size();
    bool suffix = true, started = false;
    for (size_t k = 0; k < dims.size(); ++k) {
      steps_[lead + k] = dims[k] == 1 ? 0 : strides[k];
      started = started || dims[k] != 1;
      suffix = suffix && (!started || dims[k] == to[lead + k]);
    }
    period_ = suffix ? product(dims) : 0;
  }
  int64_t at(int64_t flat) const {
    if (period_ > 0) return flat % period_;
    int64_t offset = 0;
    for (size_t k = to_.size(); k-- > 0; flat /= to_[k]) offset += flat % to_[k] * steps_[k];
    return offset;
  }

 private:
  Dims to_, steps_;
  int64_t period_ = 0;  // > 0: it repeats in memory order
};

}  // namespace sx::ops
