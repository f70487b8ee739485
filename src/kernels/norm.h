// SPDX-License-Identifier: Apache-2.0
// Normalisations: layer and RMS norm of rows, group (and instance) norm of channels, and the plain scale and
// shift of each channel that a finished batch norm is. Mean first, then the squares of what is left: stable
// in float.
#pragma once
#include <cstddef>

#include "base/parallel.h"

namespace sx::kernels {

struct LayerNorm {
  size_t rows = 0, n = 0;
  ptrdiff_t x_stride = 0, y_stride = 0;  // between rows, in elements
  ptrdiff_t residual_stride = 0;         // 0 adds the same row everywhere
  float epsilon = 1e-5f;
  bool rms = false;  // no mean is taken away
};

// Each may be null but x and y. With t = x + residual: y = (t - mean) inv_std scale + bias.
struct LayerNormData {
  const float* x = nullptr;
  const float* residual = nullptr;
  const float* scale = nullptr;  // n
  const float* bias = nullptr;   // n
  float* y = nullptr;            // may be x
  float* sum = nullptr;          // t, rows y_stride apart
  float* mean = nullptr;         // one for each row
  float* inv_std = nullptr;
};

void layer_norm_run(const LayerNorm& norm, const LayerNormData& data, Parallel& parallel);

// x and y are [batch, channels, inner]; scale and bias hold one value for each channel. groups divides
// channels; instance norm has groups = channels. scale and bias may be null.
void group_norm_run(size_t batch, size_t channels, size_t inner, size_t groups, float epsilon, const float* x,
                    const float* scale, const float* bias, float* y, Parallel& parallel);

// y = x scale[c] + shift[c] over [batch, channels, inner]; y may be x.
void channel_affine_run(size_t batch, size_t channels, size_t inner, const float* x, const float* scale,
                        const float* shift, float* y, Parallel& parallel);

// scale and shift of a batch norm: scale = gamma / sqrt(variance + epsilon), shift = beta - mean scale.
void batch_norm_affine(size_t channels, const float* gamma, const float* beta, const float* mean,
                       const float* variance, float epsilon, float* scale, float* shift);

}  // namespace sx::kernels
