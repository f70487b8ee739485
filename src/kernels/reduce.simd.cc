// SPDX-License-Identifier: Apache-2.0
// Reduction of dense runs (rows) and of columns side by side.
#include "kernels/reduce_kinds.h"
#include "kernels/vec_math.h"

namespace sx::SX_ISA {
using kernels::Gather;
namespace {

// Each gather: what an element becomes, how two partial results join, and where to begin.
struct Sum {
  static constexpr bool kVectorOnly = false;
  static constexpr float start = 0.0f;
  SX_INLINE Vec take(Vec x, Vec) { return x; }
  SX_INLINE double take(double x) { return x; }
  SX_INLINE Vec join(Vec a, Vec b) { return a + b; }
  SX_INLINE double join(double a, double b) { return a + b; }
};
struct SumSquare : Sum {
  SX_INLINE Vec take(Vec x, Vec) { return x * x; }
  SX_INLINE double take(double x) { return x * x; }
};
struct SumAbs : Sum {
  SX_INLINE Vec take(Vec x, Vec) { return abs(x); }
  SX_INLINE double take(double x) { return x < 0 ? -x : x; }
};
struct SumExp : Sum {
  static constexpr bool kVectorOnly = true;
  SX_INLINE Vec take(Vec x, Vec shift) { return exp_nonpositive(x - shift); }
  SX_INLINE double take(double x) { return x; }
};
struct Product {
  static constexpr bool kVectorOnly = false;
  static constexpr float start = 1.0f;
  SX_INLINE Vec take(Vec x, Vec) { return x; }
  SX_INLINE double take(double x) { return x; }
  SX_INLINE Vec join(Vec a, Vec b) { return a * b; }
  SX_INLINE double join(double a, double b) { return a * b; }
};
struct Largest {
  static constexpr bool kVectorOnly = false;
  static constexpr float start = -kInf;
  SX_INLINE Vec take(Vec x, Vec) { return x; }
  SX_INLINE double take(double x) { return x; }
  SX_INLINE Vec join(Vec a, Vec b) { return select(is_nan(b), b, max(b, a)); }
  SX_INLINE double join(double a, double b) { return b != b || b > a ? b : a; }
};
struct Smallest {
  static constexpr bool kVectorOnly = false;
  static constexpr float start = kInf;
  SX_INLINE Vec take(Vec x, Vec) { return x; }
  SX_INLINE double take(double x) { return x; }
  SX_INLINE Vec join(Vec a, Vec b) { return select(is_nan(b), b, min(b, a)); }
  SX_INLINE double join(double a, double b) { return b != b || b < a ? b : a; }
};

template <class G>
double row(const float* x, size_t n, float shift, double total) {
  const Vec s = set1(shift), start = set1(G::start);
  for (size_t at = 0; at < n; at += 4096) {
    const size_t m = n - at < 4096 ? n - at : 4096;
    const float* p = x + at;
    Vec v[4] = {start, start, start, start};
    size_t i = 0;
    for (; i + 4 * kLanes <= m; i += 4 * kLanes) {
      SX_UNROLL
      for (size_t k = 0; k < 4; ++k) v[k] = G::join(v[k], G::take(load(p + i + k * kLanes), s));
    }
    for (; i + kLanes <= m; i += kLanes) v[0] = G::join(v[0], G::take(load(p + i), s));
    if (i < m) {
      const Vec rest = G::take(load_part(p + i, m - i), s);
      v[1] = G::join(v[1], select(first_lanes(m - i), rest, start));
    }
    const Vec all = G::join(G::join(v[0], v[1]), G::join(v[2], v[3]));
    double part = G::start;
    for (size_t k = 0; k < kLanes; ++k) part = G::join(part, (double)all[k]);
    total = G::join(total, part);
  }
  return total;
}

// total[c] joins x[r][c] for r in [0, rows), c in [0, count); count at most 512. shift may be null.
template <class G>
void columns(const float* x, size_t rows, ptrdiff_t stride, size_t count, const float* shift, double* total) {
  float sum[512];
  for (size_t r0 = 0; r0 < rows; r0 += 64) {
    const size_t end = rows - r0 < 64 ? rows : r0 + 64;
    for (size_t c = 0; c < count; c += kLanes) store(sum + c, set1(G::start));
    for (size_t r = r0; r < end; ++r) {
      const float* p = x + (ptrdiff_t)r * stride;
      size_t c = 0;
      for (; c + kLanes <= count; c += kLanes)
        store(sum + c, G::join(load(sum + c), G::take(load(p + c), shift ? load(shift + c) : zero())));
      if (const size_t k = count - c; k)
        store(sum + c,
              G::join(load(sum + c), G::take(load_part(p + c, k), shift ? load_part(shift + c, k) : zero())));
    }
    for (size_t c = 0; c < count; ++c) total[c] = G::join(total[c], (double)sum[c]);
  }
}

}  // namespace

double reduce_row(Gather g, const float* x, size_t n, float shift, double total) {
  switch (g) {
    case Gather::sum: return row<Sum>(x, n, shift, total);
    case Gather::sum_square: return row<SumSquare>(x, n, shift, total);
    case Gather::sum_abs: return row<SumAbs>(x, n, shift, total);
    case Gather::sum_exp: return row<SumExp>(x, n, shift, total);
    case Gather::prod: return row<Product>(x, n, shift, total);
    case Gather::max: return row<Largest>(x, n, shift, total);
    case Gather::min: return row<Smallest>(x, n, shift, total);
  }
  return total;
}

namespace {

// Rows too short to fill a vector go one element at a time; several rows are in flight at once.
template <class G>
void rows(const float* x, size_t count, size_t n, ptrdiff_t stride, const float* shift, double* total) {
  for (size_t r = 0; r < count; ++r, x += stride) {
    if (n >= kLanes || G::kVectorOnly) {
      total[r] = row<G>(x, n, shift ? shift[r] : 0.0f, G::start);
    } else {
      double sum = G::start;
      for (size_t i = 0; i < n; ++i) sum = G::join(sum, G::take((double)x[i]));
      total[r] = sum;
    }
  }
}

}  // namespace

// total[r] = what row r gives, for r < count; rows are dense, `stride` apart. shift may be null.
void reduce_rows(Gather g, const float* x, size_t count, size_t n, ptrdiff_t stride, const float* shift,
                 double* total) {
  switch (g) {
    case Gather::sum: return rows<Sum>(x, count, n, stride, shift, total);
    case Gather::sum_square: return rows<SumSquare>(x, count, n, stride, shift, total);
    case Gather::sum_abs: return rows<SumAbs>(x, count, n, stride, shift, total);
    case Gather::sum_exp: return rows<SumExp>(x, count, n, stride, shift, total);
    case Gather::prod: return rows<Product>(x, count, n, stride, shift, total);
    case Gather::max: return rows<Largest>(x, count, n, stride, shift, total);
    case Gather::min: return rows<Smallest>(x, count, n, stride, shift, total);
  }
}

void reduce_columns(Gather g, const float* x, size_t rows, ptrdiff_t stride, size_t count, const float* shift,
                    double* total) {
  switch (g) {
    case Gather::sum: return columns<Sum>(x, rows, stride, count, shift, total);
    case Gather::sum_square: return columns<SumSquare>(x, rows, stride, count, shift, total);
    case Gather::sum_abs: return columns<SumAbs>(x, rows, stride, count, shift, total);
    case Gather::sum_exp: return columns<SumExp>(x, rows, stride, count, shift, total);
    case Gather::prod: return columns<Product>(x, rows, stride, count, shift, total);
    case Gather::max: return columns<Largest>(x, rows, stride, count, shift, total);
    case Gather::min: return columns<Smallest>(x, rows, stride, count, shift, total);
  }
}

// The index of the extreme in x[0..n); sign is -1 for the smallest.
size_t arg_row(const float* x, size_t n, float sign, bool last) {
  const double top = sign > 0 ? row<Largest>(x, n, 0, -kInf) : -row<Smallest>(x, n, 0, kInf);
  const bool nan = top != top;
  const Vec want = set1((float)top * sign);
  size_t found = 0;
  for (size_t i = 0; i < n; i += kLanes) {
    const size_t k = n - i < kLanes ? n - i : kLanes;
    const Vec v = k == kLanes ? load(x + i) : load_part(x + i, k);
    const unsigned hit = mask_bits(mask_and(nan ? is_nan(v) : equal(v, want), first_lanes(k)));
    if (!hit) continue;
    if (nan || !last) return i + (size_t)__builtin_ctz(hit);
    found = i + 31u - (size_t)__builtin_clz(hit);
  }
  return found;
}

// The same for columns [0, count) of x[n][inner], count at most 512.
void arg_columns(const float* x, size_t n, size_t inner, size_t count, float sign, bool last, int64_t* y) {
  float best[512];
  int32_t index[512];
  for (size_t c = 0; c < count; ++c) best[c] = sign * x[c], index[c] = 0;
  for (size_t r = 1; r < n; ++r) {
    const float* p = x + r * inner;
    const int32_t at = (int32_t)r;
    size_t c = 0;
    for (; c < count; c += kLanes) {
      const size_t k = count - c < kLanes ? count - c : kLanes;
      const Vec v = (k == kLanes ? load(p + c) : load_part(p + c, k)) * sign, b = load(best + c);
      const Mask more =
          mask_or(last ? less_equal(b, v) : less(b, v), mask_and(is_nan(v), mask_not(is_nan(b))));
      store(best + c, select(more, v, b));
      store(index + c, select(more, set1i(at), load(index + c)));
    }
  }
  for (size_t c = 0; c < count; ++c) y[c] = index[c];
}

}  // namespace sx::SX_ISA
