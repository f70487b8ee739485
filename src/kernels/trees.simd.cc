// SPDX-License-Identifier: Apache-2.0
// Complete trees over 64 rows at once: every split is compared for all rows, which is a bit for each, and the
// bits of a level select those of the next. No row ever waits for a load that depends on its own path, so
// this is two to three times as fast as walking, where compares give bits (AVX-512); gathering along paths
// was slower than walking.
#include "kernels/trees_args.h"
#include "kernels/vec.h"

namespace sx::SX_ISA {
using namespace kernels;

#if defined(SX_ISA_avx512)
namespace {

// A bit for each of 64 rows: whether it goes to the false side.
template <bool kNan>
SX_INLINE uint64_t compare(const TreeSplit& s, const float* x) {
  const Vec t = set1(s.threshold);
  const float* p = x + (size_t)(kNan ? s.feature & ~kNanLeft : s.feature) * kWideRows;
  Mask m[4];
  SX_UNROLL
  for (int i = 0; i < 4; ++i) {
    const Vec v = load(p + 16 * i);
    m[i] = _mm512_cmp_ps_mask(v, t, _CMP_NLE_UQ);
    if (kNan && (s.feature & kNanLeft)) m[i] = mask_and(m[i], mask_not(is_nan(v)));
  }
  const __mmask32 low = _mm512_kunpackw(m[1], m[0]), high = _mm512_kunpackw(m[3], m[2]);
  return (uint64_t)_mm512_kunpackd(high, low);
}

SX_INLINE uint64_t choose(uint64_t which, uint64_t zero_side, uint64_t one_side) {
  return zero_side ^ ((zero_side ^ one_side) & which);
}

// The leaf that each of 16 rows comes to: bit[l] are the directions at level l.
template <size_t D>
SX_INLINE Vec leaf_values(const float* leaves, const uint64_t (&bit)[D], int quarter) {
  if constexpr (D < 4) {  // fewer leaves than lanes
    VecI index{};
    SX_UNROLL
    for (size_t l = 0; l < D; ++l)
      index = select((Mask)(bit[l] >> (16 * quarter)), index | (int32_t)(1 << (D - 1 - l)), index);
    return _mm512_permutexvar_ps((__m512i)index, load_part(leaves, (size_t)1 << D));
  } else {
    // The last five levels pick among 32 leaves, in two vectors; the levels above pick the pair.
    constexpr size_t kPick = D < 5 ? D : 5;
    VecI index{};
    SX_UNROLL
    for (size_t l = D - kPick; l < D; ++l)
      index = select((Mask)(bit[l] >> (16 * quarter)), index | (int32_t)(1 << (D - 1 - l)), index);
    if constexpr (D == 4) return _mm512_permutexvar_ps((__m512i)index, load(leaves));
    constexpr size_t kPairs = (size_t)1 << (D - kPick);
    Vec v[kPairs];
    SX_UNROLL
    for (size_t i = 0; i < kPairs; ++i)
      v[i] = _mm512_permutex2var_ps(load(leaves + 32 * i), (__m512i)index, load(leaves + 32 * i + 16));
    for (size_t l = D - kPick, n = kPairs; l-- > 0; n /= 2)
      for (size_t i = 0; i < n / 2; ++i)
        v[i] = select((Mask)(bit[l] >> (16 * quarter)), v[2 * i + 1], v[2 * i]);
    return v[0];
  }
}

template <size_t D, bool kNan>
void one_tree(const TreeSplit* splits, const float* leaves, size_t width, const float* x, float* sums) {
  constexpr size_t kSplits = ((size_t)1 << D) - 1;
  uint64_t right[kSplits];
  for (size_t k = 0; k < kSplits; ++k) right[k] = compare<kNan>(splits[k], x);
  uint64_t bit[D];
  bit[0] = right[0];
  SX_UNROLL
  for (size_t level = 1; level < D; ++level) {
    uint64_t part[(size_t)1 << (D - 1)];
    const size_t first = ((size_t)1 << level) - 1;
    for (size_t i = 0; i < (size_t)1 << level; ++i) part[i] = right[first + i];
    for (size_t l = level, n = (size_t)1 << level; l-- > 0; n /= 2)
      for (size_t i = 0; i < n / 2; ++i) part[i] = choose(bit[l], part[2 * i], part[2 * i + 1]);
    bit[level] = part[0];
  }
  for (size_t j = 0; j < width; ++j, leaves += (size_t)1 << D, sums += kWideRows) {
    SX_UNROLL
    for (int quarter = 0; quarter < 4; ++quarter) {
      float* s = sums + 16 * quarter;
      store(s, load(s) + leaf_values<D>(leaves, bit, quarter));
    }
  }
}

template <size_t D>
void all_trees(const WideTrees& w) {
  constexpr size_t kSize = (size_t)1 << D;
  for (size_t t = 0; t < w.count; ++t) {
    float* sums = w.sums + w.target[t * w.target_step] * kWideRows;
    const TreeSplit* splits = w.splits + t * kSize;
    const float* leaves = w.leaves + t * kSize * w.width;
    w.nan_left ? one_tree<D, true>(splits, leaves, w.width, w.x, sums)
               : one_tree<D, false>(splits, leaves, w.width, w.x, sums);
  }
}

}  // namespace

bool wide_trees(const WideTrees* w) {
  switch (w->depth) {
    case 1: return all_trees<1>(*w), true;
    case 2: return all_trees<2>(*w), true;
    case 3: return all_trees<3>(*w), true;
    case 4: return all_trees<4>(*w), true;
    case 5: return all_trees<5>(*w), true;
    case 6: return all_trees<6>(*w), true;
    case 7: return all_trees<7>(*w), true;
    default: return false;
  }
}
bool wide_trees_pay() { return true; }

#else

bool wide_trees(const WideTrees*) { return false; }
bool wide_trees_pay() { return false; }

#endif

}  // namespace sx::SX_ISA
