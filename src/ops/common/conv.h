// SPDX-License-Identifier: Apache-2.0
// Convolution of [N, C, spatial…] with [M, C/group, kernel…], shared by Conv and its integer kin.
#pragma once
#include "ops/common/window.h"

namespace sx::ops {

// The output shape from inputs `x` and `w`, bias (if it has one) `b`; output 0 gets `elem`.
Status infer_conv(Infer& i, size_t x, size_t w, size_t b, DType elem);
std::vector<AttrDef> conv_attrs();
// The kernel's sizes from the attribute or from weight `w`, which must agree; empty where neither tells them.
Result<std::vector<int64_t>> kernel_of(Infer& i, size_t w);

// A convolution with all its sizes known.
struct Convolution {
  Window window;
  int64_t batch = 0, channels = 0, features = 0, group = 1;
  Dims in, out;  // spatial sizes
  int64_t kernel_size() const;
};
Result<Convolution> convolution(const Attrs& attrs, std::span<const int64_t> x, std::span<const int64_t> w);

// T: float, double, int32_t.
template <class T>
void convolve(const Convolution& c, const T* x, const T* w, T* y);

}  // namespace sx::ops
