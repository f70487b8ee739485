// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax.h"

#include "kernels/chunks.h"
#include "kernels/dispatch.h"

SX_LEVELS(void softmax_row(const float* x, float* y, size_t n, float scale, const float* mask,
                           bool logarithm))
SX_LEVELS(void softmax_columns(const float* x, float* y, size_t n, size_t inner, size_t count,
                               bool logarithm))

namespace sx::kernels {
namespace {

constexpr size_t kColumns = 256;      // as in softmax.simd.cc
constexpr size_t kChunk = 32 * 1024;  // elements

const float* mask_row(const Softmax& s, const float* mask, size_t row) {
  const size_t k = row % s.mask_dims[2], ij = row / s.mask_dims[2];
  const size_t j = ij % s.mask_dims[1], i = ij / s.mask_dims[1];
  return mask + static_cast<ptrdiff_t>(i) * s.mask_strides[0] +
         static_cast<ptrdiff_t>(j) * s.mask_strides[1] + static_cast<ptrdiff_t>(k) * s.mask_strides[2];
}

}  // namespace

void softmax_run(const Softmax& s, const float* x, const float* mask, float* y, Parallel& parallel) {
  if (s.outer * s.n * s.inner == 0) return;
  if (s.inner == 1) {
    auto* work = SX_PICK(softmax_row);
    for_chunks(parallel, s.outer, kChunk / s.n, [&](size_t begin, size_t end) {
      for (size_t r = begin; r < end; ++r) {
        const ptrdiff_t i = static_cast<ptrdiff_t>(r);
        work(x + i * s.x_stride, y + i * s.y_stride, s.n, s.scale, mask ? mask_row(s, mask, r) : nullptr,
             s.log);
      }
    });
    return;
  }
  auto* work = SX_PICK(softmax_columns);
  const size_t blocks = (s.inner + kColumns - 1) / kColumns;
  const size_t block = s.inner < kColumns ? s.inner : kColumns;
  for_chunks(parallel, s.outer * blocks, kChunk / (s.n * block), [&](size_t begin, size_t end) {
    for (size_t u = begin; u < end; ++u) {
      const ptrdiff_t i = static_cast<ptrdiff_t>(u / blocks);
      const size_t c = u % blocks * kColumns, left = s.inner - c;
      work(x + i * s.x_stride + c, y + i * s.y_stride + c, s.n, s.inner, left < kColumns ? left : kColumns,
           s.log);
    }
  });
}

}  // namespace sx::kernels
