// SPDX-License-Identifier: Apache-2.0
// Packing of matrices for the tiles. Sources may lie at any address: weights in a mapped file are unaligned.
#include "kernels/transpose.h"
#include "kernels/vec.h"

namespace sx::SX_ISA {

// Up to kLanes rows of `k` values, each `ld` floats apart, to to[k][...] with rows as columns.
SX_INLINE void pack_columns(const float* from, size_t ld, size_t rows, size_t k, float* to,
                            size_t to_stride) {
  for (size_t i = 0; i < k; i += kLanes) {
    const size_t n = k - i < kLanes ? k - i : kLanes;
    Vec square[kLanes];
    SX_UNROLL
    for (size_t r = 0; r < kLanes; ++r) {
      const float* p = from + r * ld + i;
      square[r] = r >= rows ? zero() : n == kLanes ? load(p) : load_part(p, n);
    }
    transpose(square);
    if (n == kLanes) {
      SX_UNROLL
      for (size_t r = 0; r < kLanes; ++r) store(to + (i + r) * to_stride, square[r]);
    } else {
      for (size_t r = 0; r < n; ++r) store(to + (i + r) * to_stride, square[r]);
    }
  }
}

void pack_panel(const void* source, size_t ldb, bool transposed, size_t k, size_t cols, size_t width,
                float* packed) {
  const float* b = (const float*)source;
  if (transposed) {
    for (size_t j = 0; j < width; j += kLanes) {
      const size_t rows = cols > j ? cols - j : 0;
      pack_columns(b + j * ldb, ldb, rows < kLanes ? rows : kLanes, k, packed + j, width);
    }
    return;
  }
  const size_t whole = (cols < width ? cols : width) / kLanes * kLanes;
  const Mask exists = first_lanes(cols > whole ? cols - whole : 0);
  for (size_t i = 0; i < k; ++i) {
    const float* row = b + i * ldb;
    float* to = packed + i * width;
    for (size_t j = 0; j < whole; j += kLanes) store(to + j, load(row + j));
    if (whole < width) store(to + whole, load_masked(row + whole, exists));
    for (size_t j = whole + kLanes; j < width; j += kLanes) store(to + j, zero());
  }
}

void copy_rows(const float* a, size_t lda, bool transposed, size_t rows, size_t k, float* to, size_t stride) {
  if (!transposed) {
    for (size_t r = 0; r < rows; ++r) {
      const float* p = a + r * lda;
      float* q = to + r * stride;
      size_t i = 0;
      for (; i + kLanes <= k; i += kLanes) store(q + i, load(p + i));
      if (i < k) store_part(q + i, k - i, load_part(p + i, k - i));
    }
    return;
  }
  // a holds k rows of `rows` values: squares are read whole where they exist.
  for (size_t i = 0; i < k; i += kLanes)
    for (size_t r = 0; r < rows; r += kLanes) {
      const size_t nk = k - i < kLanes ? k - i : kLanes, nr = rows - r < kLanes ? rows - r : kLanes;
      Vec square[kLanes];
      SX_UNROLL
      for (size_t s = 0; s < kLanes; ++s) {
        const float* p = a + (i + s) * lda + r;
        square[s] = s >= nk ? zero() : nr == kLanes ? load(p) : load_part(p, nr);
      }
      transpose(square);
      for (size_t s = 0; s < nr; ++s) store_part(to + (r + s) * stride + i, nk, square[s]);
    }
}

}  // namespace sx::SX_ISA
