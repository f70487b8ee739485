// SPDX-License-Identifier: Apache-2.0
// Transposes a matrix of 4-byte elements, a square of vectors at a time.
#include "kernels/transpose.h"

namespace sx::SX_ISA {

// dst[j][i] = src[i][j] for i < rows, j < cols; strides in bytes between i in src and between j in dst.
void transpose_words(const void* src, ptrdiff_t src_step, void* dst, ptrdiff_t dst_step, size_t rows,
                     size_t cols) {
  const char* s = (const char*)src;
  char* d = (char*)dst;
  for (size_t j = 0; j < cols; j += kLanes) {
    const size_t nj = cols - j < kLanes ? cols - j : kLanes;
    for (size_t i = 0; i < rows; i += kLanes) {
      const size_t ni = rows - i < kLanes ? rows - i : kLanes;
      Vec square[kLanes];
      const char* from = s + (ptrdiff_t)i * src_step + 4 * j;
      char* to = d + (ptrdiff_t)j * dst_step + 4 * i;
      if (ni == kLanes && nj == kLanes) {
        SX_UNROLL
        for (size_t k = 0; k < kLanes; ++k) square[k] = load((const float*)(from + (ptrdiff_t)k * src_step));
        transpose(square);
        SX_UNROLL
        for (size_t k = 0; k < kLanes; ++k) store((float*)(to + (ptrdiff_t)k * dst_step), square[k]);
      } else {
        for (size_t k = 0; k < kLanes; ++k)
          square[k] = k < ni ? load_part((const float*)(from + (ptrdiff_t)k * src_step), nj) : zero();
        transpose(square);
        for (size_t k = 0; k < nj; ++k) store_part((float*)(to + (ptrdiff_t)k * dst_step), ni, square[k]);
      }
    }
  }
}

}  // namespace sx::SX_ISA
