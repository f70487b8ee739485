// SPDX-License-Identifier: Apache-2.0
#include "kernels/norm.h"

#include <cmath>

#include "kernels/chunks.h"
#include "kernels/dispatch.h"

SX_LEVELS(void add_rows(const float* x, const float* r, float* y, size_t n))
SX_LEVELS(void row_moments(const float* x, size_t n, float epsilon, bool rms, double* mean, float* inv_std))
SX_LEVELS(void row_normalise(const float* x, double mean, float inv_std, const float* scale,
                             const float* bias, float* y, size_t n))
SX_LEVELS(void row_affine(const float* x, float scale, float shift, float* y, size_t n))
SX_LEVELS(void row_affine_each(const float* x, const float* scale, const float* shift, float* y, size_t n))

namespace sx::kernels {
namespace {

constexpr size_t kChunk = 32 * 1024;  // elements

size_t rows_for(size_t n) { return n ? kChunk / n : kChunk; }

}  // namespace

void layer_norm_run(const LayerNorm& norm, const LayerNormData& d, Parallel& parallel) {
  auto* add = SX_PICK(add_rows);
  auto* moments = SX_PICK(row_moments);
  auto* normalise = SX_PICK(row_normalise);
  for_chunks(parallel, norm.rows, rows_for(norm.n), [&](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r) {
      const ptrdiff_t i = static_cast<ptrdiff_t>(r);
      const float* x = d.x + i * norm.x_stride;
      float *y = d.y + i * norm.y_stride, *sum = d.sum ? d.sum + i * norm.y_stride : y;
      if (d.residual) {
        add(x, d.residual + i * norm.residual_stride, sum, norm.n);
        x = sum;
      } else if (d.sum) {
        for (size_t k = 0; k < norm.n; ++k) sum[k] = x[k];
      }
      double mean;
      float inv_std;
      moments(x, norm.n, norm.epsilon, norm.rms, &mean, &inv_std);
      normalise(x, mean, inv_std, d.scale, d.bias, y, norm.n);
      if (d.mean) d.mean[r] = static_cast<float>(mean);
      if (d.inv_std) d.inv_std[r] = inv_std;
    }
  });
}

void group_norm_run(size_t batch, size_t channels, size_t inner, size_t groups, float epsilon, const float* x,
                    const float* scale, const float* bias, float* y, Parallel& parallel) {
  auto* moments = SX_PICK(row_moments);
  auto* affine = SX_PICK(row_affine);
  const size_t in_group = channels / groups, n = in_group * inner;
  for_chunks(parallel, batch * groups, rows_for(n), [&](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r) {
      double mean;
      float inv_std;
      moments(x + r * n, n, epsilon, false, &mean, &inv_std);
      for (size_t k = 0; k < in_group; ++k) {
        const size_t c = r % groups * in_group + k, at = r * n + k * inner;
        const float s = scale ? inv_std * scale[c] : inv_std;
        affine(x + at, s, static_cast<float>((bias ? bias[c] : 0.0f) - mean * s), y + at, inner);
      }
    }
  });
}

void channel_affine_run(size_t batch, size_t channels, size_t inner, const float* x, const float* scale,
                        const float* shift, float* y, Parallel& parallel) {
  if (inner == 1) {
    auto* work = SX_PICK(row_affine_each);
    for_chunks(parallel, batch, rows_for(channels), [&](size_t begin, size_t end) {
      for (size_t r = begin; r < end; ++r) work(x + r * channels, scale, shift, y + r * channels, channels);
    });
    return;
  }
  auto* work = SX_PICK(row_affine);
  for_chunks(parallel, batch * channels, rows_for(inner), [&](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r)
      work(x + r * inner, scale[r % channels], shift[r % channels], y + r * inner, inner);
  });
}

void batch_norm_affine(size_t channels, const float* gamma, const float* beta, const float* mean,
                       const float* variance, float epsilon, float* scale, float* shift) {
  for (size_t c = 0; c < channels; ++c) {
    const double s = static_cast<double>(gamma[c]) / std::sqrt(static_cast<double>(variance[c]) + epsilon);
    scale[c] = static_cast<float>(s);
    shift[c] = static_cast<float>(beta[c] - mean[c] * s);
  }
}

}  // namespace sx::kernels
