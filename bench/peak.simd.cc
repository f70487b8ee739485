// SPDX-License-Identifier: Apache-2.0
// The most multiply-adds that a core can do at a vector level: twelve independent chains, no memory.
#include "kernels/vec.h"

namespace sx::SX_ISA {

// Returns the floating-point operations that were done.
double burn(size_t rounds, float* sink) {
  constexpr int kChains = 12;
  Vec acc[kChains];
  const Vec x = set1(sink[0]), y = set1(sink[1]);
  SX_UNROLL
  for (int i = 0; i < kChains; ++i) acc[i] = set1((float)i);
  for (size_t r = 0; r < rounds; ++r) {
    SX_UNROLL
    for (int i = 0; i < kChains; ++i) {
      acc[i] = fma(x, acc[i], y);
#if defined(__x86_64__)
      asm volatile("" : "+v"(acc[i]));
#endif
    }
  }
  Vec sum = acc[0];
  SX_UNROLL
  for (int i = 1; i < kChains; ++i) sum += acc[i];
  sink[2] = reduce_add(sum);
  return 2.0 * (double)rounds * kChains * kLanes;
}

}  // namespace sx::SX_ISA
