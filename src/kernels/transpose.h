// SPDX-License-Identifier: Apache-2.0
// Turns a square of kLanes vectors on its diagonal, in registers. Only for *.simd.cc files.
#pragma once
#include "kernels/vec.h"

namespace sx::SX_ISA {

#if defined(__clang__)
#define SX_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SX_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, VecI{__VA_ARGS__})
#endif

// Swaps the off-diagonal quarters of pairs `step` rows apart: log2(kLanes) rounds of this transpose.
#if defined(SX_ISA_avx512)
SX_INLINE void exchange(Vec& a, Vec& b, int step) {
  const Vec x = a, y = b;
  if (step == 8) {
    a = SX_SHUFFLE(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    b = SX_SHUFFLE(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  } else if (step == 4) {
    a = SX_SHUFFLE(x, y, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
    b = SX_SHUFFLE(x, y, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  } else if (step == 2) {
    a = SX_SHUFFLE(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
    b = SX_SHUFFLE(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  } else {
    a = SX_SHUFFLE(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
    b = SX_SHUFFLE(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
  }
}
#elif defined(SX_ISA_avx2)
SX_INLINE void exchange(Vec& a, Vec& b, int step) {
  const Vec x = a, y = b;
  if (step == 4) {
    a = SX_SHUFFLE(x, y, 0, 1, 2, 3, 8, 9, 10, 11);
    b = SX_SHUFFLE(x, y, 4, 5, 6, 7, 12, 13, 14, 15);
  } else if (step == 2) {
    a = SX_SHUFFLE(x, y, 0, 1, 8, 9, 4, 5, 12, 13);
    b = SX_SHUFFLE(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
  } else {
    a = SX_SHUFFLE(x, y, 0, 8, 2, 10, 4, 12, 6, 14);
    b = SX_SHUFFLE(x, y, 1, 9, 3, 11, 5, 13, 7, 15);
  }
}
#else
SX_INLINE void exchange(Vec& a, Vec& b, int step) {
  const Vec x = a, y = b;
  if (step == 2) {
    a = SX_SHUFFLE(x, y, 0, 1, 4, 5);
    b = SX_SHUFFLE(x, y, 2, 3, 6, 7);
  } else {
    a = SX_SHUFFLE(x, y, 0, 4, 2, 6);
    b = SX_SHUFFLE(x, y, 1, 5, 3, 7);
  }
}
#endif

template <int step>
SX_INLINE void exchange_all(Vec (&rows)[kLanes]) {
  SX_UNROLL
  for (int i = 0; i < (int)kLanes; ++i)
    if ((i & step) == 0) exchange(rows[i], rows[i + step], step);
}

SX_INLINE void transpose(Vec (&rows)[kLanes]) {
  if constexpr (kLanes >= 16) exchange_all<8>(rows);
  if constexpr (kLanes >= 8) exchange_all<4>(rows);
  exchange_all<2>(rows);
  exchange_all<1>(rows);
}

}  // namespace sx::SX_ISA
