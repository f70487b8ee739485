// SPDX-License-Identifier: Apache-2.0
// Attention of one query where keys and values lie, for decoding; and what happens to a row of scores.
#include "kernels/row_math.h"

namespace sx::SX_ISA {

// scores[j] = scale q . k[j]
void attend_scores(const float* q, const float* k, ptrdiff_t k_row, size_t keys, size_t size, float scale,
                   float* scores) {
  const auto part = [&](const float* p, size_t i) {
    return size - i >= kLanes ? load(p + i) : load_part(p + i, size - i);
  };
  size_t j = 0;
  for (; j + 4 <= keys; j += 4) {
    const float *a = k + (ptrdiff_t)j * k_row, *b = a + k_row, *c = b + k_row, *d = c + k_row;
    Vec s0 = zero(), s1 = zero(), s2 = zero(), s3 = zero();
    for (size_t i = 0; i < size; i += kLanes) {
      const Vec x = part(q, i);
      s0 = fma(x, part(a, i), s0);
      s1 = fma(x, part(b, i), s1);
      s2 = fma(x, part(c, i), s2);
      s3 = fma(x, part(d, i), s3);
    }
    scores[j] = scale * reduce_add(s0);
    scores[j + 1] = scale * reduce_add(s1);
    scores[j + 2] = scale * reduce_add(s2);
    scores[j + 3] = scale * reduce_add(s3);
  }
  for (; j < keys; ++j) {
    Vec s = zero();
    for (size_t i = 0; i < size; i += kLanes) s = fma(part(q, i), part(k + (ptrdiff_t)j * k_row, i), s);
    scores[j] = scale * reduce_add(s);
  }
}

// out = sum_j p[j] v[j]
void attend_values(const float* p, const float* v, ptrdiff_t v_row, size_t keys, size_t size, float* out) {
  size_t i = 0;
  for (; i + 4 * kLanes <= size; i += 4 * kLanes) {
    Vec s[4] = {};
    const float* x = v + i;
    for (size_t j = 0; j < keys; ++j, x += v_row) {
      const Vec w = set1(p[j]);
      SX_UNROLL
      for (size_t n = 0; n < 4; ++n) s[n] = fma(w, load(x + n * kLanes), s[n]);
    }
    for (size_t n = 0; n < 4; ++n) store(out + i + n * kLanes, s[n]);
  }
  for (; i < size; i += kLanes) {
    const size_t rest = size - i < kLanes ? size - i : kLanes;
    Vec s = zero();
    const float* x = v + i;
    for (size_t j = 0; j < keys; ++j, x += v_row) s = fma(set1(p[j]), load_part(x, rest), s);
    store_part(out + i, rest, s);
  }
}

// s = cap tanh(s / cap)
void cap_scores(float* s, size_t n, float cap) {
  const Vec c = set1(cap);
  for (size_t i = 0; i < n; i += kLanes) {
    const size_t rest = n - i < kLanes ? n - i : kLanes;
    store_part(s + i, rest, c * tanh(load_part(s + i, rest) / c));
  }
}

// Softmax that goes on from one stretch of keys to the next: s becomes e^(s + mask - top), where top and sum
// are brought up to date. What was gathered under the old top has to be multiplied by the result.
float weigh_scores(float* s, size_t n, const float* mask, float* top, float* sum) {
  const float here = mask ? shift_row(s, s, n, 1.0f, mask) : max_row(s, n);
  const float before = *top, now = here > before ? here : before;
  if (now == -kInf) {  // nothing seen yet, unless it is NaN
    *sum += exp_row(s, s, n, 0.0f);
    return 1.0f;
  }
  const Vec factor = exp_nonpositive(set1(before - now));
  *sum = *sum * factor[0] + exp_row(s, s, n, now);
  *top = now;
  return factor[0];
}

void scale_row(float* x, size_t n, float factor) {
  const Vec f = set1(factor);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(x + i, load(x + i) * f);
  if (i < n) store_part(x + i, n - i, load_part(x + i, n - i) * f);
}

}  // namespace sx::SX_ISA
