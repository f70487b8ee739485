// SPDX-License-Identifier: Apache-2.0
// The register tile of GEMM and convolution (see tile.h). The row count is a template parameter, so that
// every accumulator is a register: 14 x 2 vectors of the 32 that AVX-512 has, 6 x 2 of 16 elsewhere.
#include "kernels/tile.h"

#include "kernels/vec.h"

namespace sx::SX_ISA {

using kernels::TileArgs;
using kernels::TileFn;
using kernels::TileTable;

#if defined(SX_ISA_avx512)
constexpr int kMaxRows = 14;
#else
constexpr int kMaxRows = 6;
#endif

// Weights come from far away: a page ahead is where the processor's own prefetching stops.
constexpr int kAhead = 1024;

extern const TileTable kTiles;

// Rows are addressed as base[i / 3] + (i % 3) * stride, which x86 addressing modes hold in few registers.
template <int rows, int vectors, int panels>
SX_INLINE const float* accumulate(Vec (&acc)[rows][vectors * panels], const float* a, ptrdiff_t a_row,
                                  const float* b, size_t b_panel, size_t count) {
  constexpr int kBases = (rows + 2) / 3;
  const float* base[kBases];
  SX_UNROLL
  for (int i = 0; i < kBases; ++i) base[i] = a + 3 * i * a_row;
#pragma GCC unroll 1
  for (size_t k = 0; k < count; ++k) {
    Vec column[vectors * panels];
    SX_UNROLL
    for (int p = 0; p < panels; ++p) {
      SX_UNROLL
      for (int j = 0; j < vectors; ++j)
        column[p * vectors + j] = load(b + (size_t)p * b_panel + (size_t)j * kLanes);
    }
    if (panels == 1) {
      SX_UNROLL
      for (int j = 0; j < vectors * (int)kLanes; j += 16) __builtin_prefetch(b + kAhead + j, 0, 2);
    }
    SX_UNROLL
    for (int i = 0; i < rows; ++i) {
      const Vec x = set1(base[i / 3][(i % 3) * a_row]);
      SX_UNROLL
      for (int j = 0; j < vectors * panels; ++j) acc[i][j] = fma(x, column[j], acc[i][j]);
    }
    SX_UNROLL
    for (int i = 0; i < kBases; ++i) ++base[i];
    b += vectors * kLanes;
  }
  return b;
}

// Calls f(row, vector) for each vector of the tile.
template <int rows, int count, class F>
SX_INLINE void each(F f) {
  SX_UNROLL
  for (int i = 0; i < rows; ++i) {
    SX_UNROLL
    for (int j = 0; j < count; ++j) f(i, j);
  }
}

template <int rows, int count>
SX_INLINE void add_bias(Vec (&acc)[rows][count], const TileArgs& t, bool whole, const Mask (&exists)[count]) {
  if (t.bias_col) {
    const Vec scale = set1(t.bias_scale);
    SX_UNROLL
    for (int j = 0; j < count; ++j) {
      const float* p = t.bias_col + (size_t)j * kLanes;
      const Vec bias = scale * (whole ? load(p) : load_masked(p, exists[j]));
      SX_UNROLL
      for (int i = 0; i < rows; ++i) acc[i][j] += bias;
    }
  }
  if (t.bias_row) {
    SX_UNROLL
    for (int i = 0; i < rows; ++i) {
      const Vec bias = set1(t.bias_scale * t.bias_row[i]);
      SX_UNROLL
      for (int j = 0; j < count; ++j) acc[i][j] += bias;
    }
  }
}

template <int rows, int count>
SX_INLINE void finish(Vec (&acc)[rows][count], const TileArgs& t) {
  const bool whole = t.cols >= (size_t)count * kLanes;
  Mask exists[count];
  SX_UNROLL
  for (int j = 0; j < count; ++j) {
    const size_t first = (size_t)j * kLanes;
    const size_t n = t.cols > first ? t.cols - first : 0;
    exists[j] = first_lanes(n < kLanes ? n : kLanes);
  }
  if (t.alpha != 1.0f)
    each<rows, count>([&](int i, int j) __attribute__((always_inline)) { acc[i][j] *= t.alpha; });
  if (t.add) {
    const Vec beta = set1(t.beta);
    each<rows, count>([&](int i, int j) __attribute__((always_inline)) {
      const float* p = t.add + (size_t)i * t.add_row + (size_t)j * t.add_vector;
      acc[i][j] = fma(beta, whole ? load(p) : load_masked(p, exists[j]), acc[i][j]);
    });
  }
  add_bias(acc, t, whole, exists);
  if (t.clip) {
    const Vec low = set1(t.low), high = set1(t.high);
    each<rows, count>([&](int i, int j)
                          __attribute__((always_inline)) { acc[i][j] = min(high, max(low, acc[i][j])); });
  }
  each<rows, count>([&](int i, int j) __attribute__((always_inline)) {
    float* p = t.c + (size_t)i * t.c_row + (size_t)j * t.c_vector;
    if (whole)
      store(p, acc[i][j]);
    else if (t.zero_tail)
      store(p, select(exists[j], acc[i][j], zero()));
    else
      store_masked(p, exists[j], acc[i][j]);
  });
}

// Adds what was set aside before.
template <int rows, int count>
SX_INLINE void add_total(Vec (&acc)[rows][count], const float* total) {
  each<rows, count>([&](int i, int j) __attribute__((always_inline)) {
    acc[i][j] += load(total + (size_t)(i * count + j) * kLanes);
  });
}

template <int rows, int vectors, int panels>
static void tile(const TileArgs* args) {
  constexpr int kCount = vectors * panels;
  const TileArgs& t = *args;
  Vec acc[rows][kCount];
  each<rows, kCount>([&](int i, int j) __attribute__((always_inline)) { acc[i][j] = zero(); });
  alignas(64) float total[rows * kCount * kLanes];  // of the sums before this one
  const float* b = t.b;
  const size_t steps = t.steps + (t.last != 0);
  size_t next_sum = t.steps_per_sum;
  bool several = false;
  for (size_t s = 0; s < steps; ++s) {
    if (s == next_sum) {
      if (several) add_total(acc, total);
      each<rows, kCount>([&](int i, int j) __attribute__((always_inline)) {
        store(total + (size_t)(i * kCount + j) * kLanes, acc[i][j]);
        acc[i][j] = zero();
      });
      next_sum += t.steps_per_sum;
      several = true;
    }
    const float* a = t.a + (t.step_offset ? t.step_offset[s] : (ptrdiff_t)(s * t.inner));
    b = accumulate<rows, vectors, panels>(acc, a, t.a_row, b, t.b_panel, s < t.steps ? t.inner : t.last);
  }
  if (several) add_total(acc, total);
  finish<rows, kCount>(acc, t);
}

#if defined(SX_ISA_avx512)
#define SX_ALL_ROWS(v)                                                                                       \
  {                                                                                                          \
    tile<1, v, 1>, tile<2, v, 1>, tile<3, v, 1>, tile<4, v, 1>, tile<5, v, 1>, tile<6, v, 1>, tile<7, v, 1>, \
        tile<8, v, 1>, tile<9, v, 1>, tile<10, v, 1>, tile<11, v, 1>, tile<12, v, 1>, tile<13, v, 1>,        \
        tile<14, v, 1>                                                                                       \
  }
const TileTable kTiles = {kLanes,
                          kMaxRows,
                          SX_ALL_ROWS(1),
                          SX_ALL_ROWS(2),
                          {tile<1, 2, 4>, tile<2, 2, 4>, tile<3, 2, 2>, tile<4, 2, 2>},
                          {4, 4, 2, 2},
                          {tile<1, 2, 2>, tile<2, 2, 2>}};
#else
#define SX_ALL_ROWS(v) \
  { tile<1, v, 1>, tile<2, v, 1>, tile<3, v, 1>, tile<4, v, 1>, tile<5, v, 1>, tile<6, v, 1> }
const TileTable kTiles = {kLanes,
                          kMaxRows,
                          SX_ALL_ROWS(1),
                          SX_ALL_ROWS(2),
                          {tile<1, 2, 4>, tile<2, 2, 2>, tile<3, 2, 2>, tile<4, 2, 1>},
                          {4, 2, 2, 1},
                          {tile<1, 2, 2>, tile<2, 2, 2>}};
#endif

}  // namespace sx::SX_ISA
