// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax.h"

#include <algorithm>

#include "kernels/chunks.h"
#include "kernels/dispatch.h"

SX_LEVELS(void softmax_row(const float* x, float* y, size_t n, float scale, const float* mask,
                           bool logarithm))
SX_LEVELS(float softmax_top(const float* x, float* y, size_t n, float scale, const float* mask))
SX_LEVELS(float softmax_exp(const float* x, float* y, size_t n, float top))
SX_LEVELS(void softmax_end(const float* x, float* y, size_t n, float top, float sum, bool logarithm))
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

// A row so long that it is cut itself, by its length alone: its pieces are shared out, their sums added up.
constexpr size_t kLongRow = 1024 * 1024, kPieces = 256;

void long_row(const Softmax& s, const float* x, const float* mask, float* y, Parallel& parallel) {
  auto* top_of = SX_PICK(softmax_top);
  auto* exp_of = SX_PICK(softmax_exp);
  auto* end = SX_PICK(softmax_end);
  const size_t pieces = std::min(kPieces, s.n / kChunk), base = s.n / pieces;
  float tops[kPieces] = {}, sums[kPieces] = {};
  const auto each = [&](auto body) {
    parallel.run(pieces,
                 [&](size_t i, size_t) { body(i, i * base, i + 1 == pieces ? s.n - i * base : base); });
  };
  each([&](size_t i, size_t at, size_t n) {
    tops[i] = top_of(x + at, y + at, n, s.scale, mask ? mask + at : nullptr);
  });
  if (mask || s.scale != 1.0f) x = y;
  const float top = *std::max_element(tops, tops + pieces);
  each([&](size_t i, size_t at, size_t n) { sums[i] = exp_of(x + at, s.log ? nullptr : y + at, n, top); });
  double sum = 0;
  for (size_t i = 0; i < pieces; ++i) sum += sums[i];
  each([&](size_t, size_t at, size_t n) { end(x + at, y + at, n, top, static_cast<float>(sum), s.log); });
}

}  // namespace

void softmax_run(const Softmax& s, const float* x, const float* mask, float* y, Parallel& parallel) {
  if (s.outer * s.n * s.inner == 0) return;
  if (s.inner == 1 && s.n >= kLongRow) {
    for (size_t r = 0; r < s.outer; ++r) {
      const ptrdiff_t i = static_cast<ptrdiff_t>(r);
      long_row(s, x + i * s.x_stride, mask ? mask_row(s, mask, r) : nullptr, y + i * s.y_stride, parallel);
    }
    return;
  }
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
