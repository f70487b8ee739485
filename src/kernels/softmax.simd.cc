// SPDX-License-Identifier: Apache-2.0
// Softmax of one row, and of columns side by side (the axis is not the last one).
#include "base/stop.h"
#include "kernels/row_math.h"

namespace sx::SX_ISA {
namespace {

template <class F>
SX_INLINE void each(const float* x, float* y, size_t n, F f) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, f(load(x + i)));
  if (i < n) store_part(y + i, n - i, f(load_part(x + i, n - i)));
}

}  // namespace

void softmax_row(const float* x, float* y, size_t n, float scale, const float* mask, bool logarithm) {
  if (n == 0) return;
  const bool shifted = mask || scale != 1.0f;
  const float top = shifted ? shift_row(x, y, n, scale, mask) : max_row(x, n);
  if (shifted) x = y;
  if (logarithm) {
    const Vec t = set1(top), l = log(set1(exp_row(x, nullptr, n, top)));
    each(x, y, n, [&](Vec v) { return v - t - l; });
  } else {
    const Vec r = 1.0f / set1(exp_row(x, y, n, top));
    each(y, y, n, [&](Vec v) { return v * r; });
  }
}

// The passes over a piece of a long row: the largest, the exponentials with their sum, and the end.
float softmax_top(const float* x, float* y, size_t n, float scale, const float* mask) {
  return mask || scale != 1.0f ? shift_row(x, y, n, scale, mask) : max_row(x, n);
}
float softmax_exp(const float* x, float* y, size_t n, float top) { return exp_row(x, y, n, top); }
void softmax_end(const float* x, float* y, size_t n, float top, float sum, bool logarithm) {
  if (logarithm) {
    const Vec t = set1(top), l = log(set1(sum));
    each(x, y, n, [&](Vec v) { return v - t - l; });
  } else {
    const Vec r = 1.0f / set1(sum);
    each(y, y, n, [&](Vec v) { return v * r; });
  }
}

// Columns [0, count) of [n, inner], count at most kColumns.
constexpr size_t kColumns = 256, kRowsPerLook = 8192;
void softmax_columns(const float* x, float* y, size_t n, size_t inner, size_t count, bool logarithm) {
  float top[kColumns], sum[kColumns];
  const auto columns = [&](auto f) {
    for (size_t c = 0; c < count; c += kLanes) f(c, count - c < kLanes ? count - c : kLanes);
  };
  const auto part = [](const float* p, size_t k) { return k == kLanes ? load(p) : load_part(p, k); };
  const auto put = [](float* p, size_t k, Vec v) { k == kLanes ? store(p, v) : store_part(p, k, v); };
  const auto rows = [&](auto f) {
    for (size_t i = 0; i < n; ++i) {
      if (i % kRowsPerLook == kRowsPerLook - 1 && stop_requested()) return;
      f(i);
    }
  };
  columns([&](size_t c, size_t) { store(top + c, set1(-kInf)), store(sum + c, zero()); });
  rows([&](size_t i) {
    columns([&](size_t c, size_t k) { store(top + c, max(part(x + i * inner + c, k), load(top + c))); });
  });
  rows([&](size_t i) {
    columns([&](size_t c, size_t k) {
      const Vec p = exp_nonpositive(part(x + i * inner + c, k) - load(top + c));
      if (!logarithm) put(y + i * inner + c, k, p);
      store(sum + c, load(sum + c) + p);
    });
  });
  columns([&](size_t c, size_t) { store(sum + c, logarithm ? log(load(sum + c)) : 1.0f / load(sum + c)); });
  rows([&](size_t i) {
    columns([&](size_t c, size_t k) {
      const size_t at = i * inner + c;
      if (logarithm)
        put(y + at, k, part(x + at, k) - load(top + c) - load(sum + c));
      else
        put(y + at, k, part(y + at, k) * load(sum + c));
    });
  });
}

}  // namespace sx::SX_ISA
