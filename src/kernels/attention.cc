// SPDX-License-Identifier: Apache-2.0
// Two products with a softmax between them, a block of queries at a time.
#include "kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/dispatch.h"

SX_LEVELS(void attend_scores(const float* q, const float* k, ptrdiff_t k_row, size_t keys, size_t size,
                             float scale, float* scores))
SX_LEVELS(void attend_values(const float* p, const float* v, ptrdiff_t v_row, size_t keys, size_t size,
                             float* out))
SX_LEVELS(void cap_scores(float* s, size_t n, float cap))
SX_LEVELS(void softmax_row(const float* x, float* y, size_t n, float scale, const float* mask,
                           bool logarithm))

namespace sx::kernels {
namespace {

constexpr size_t kScoreFloats = 64 * 1024;  // of a block: a quarter of a small second-level cache
constexpr size_t kGroup = 384;              // queries that share one packing of keys and values
constexpr size_t kFew = 6;
constexpr float kInf = std::numeric_limits<float>::infinity();

size_t aligned(size_t floats) { return (floats + 15) / 16 * 16; }

GemmShape scores_shape(const AttentionShape& s, size_t rows) {
  GemmShape g;
  g.m = rows, g.n = s.keys, g.k = s.head_size;
  g.lda = static_cast<size_t>(s.q.row), g.ldb = static_cast<size_t>(s.k.row), g.ldc = s.keys;
  g.trans_b = true;
  return g;
}

GemmShape values_shape(const AttentionShape& s, size_t rows) {
  GemmShape g;
  g.m = rows, g.n = s.value_size, g.k = s.keys;
  g.lda = s.keys, g.ldb = static_cast<size_t>(s.v.row), g.ldc = static_cast<size_t>(s.out.row);
  return g;
}

}  // namespace

AttentionPlan::AttentionPlan(const AttentionShape& shape) : shape_(shape) {
  const AttentionShape& s = shape_;
  few_ = s.queries <= kFew || s.keys == 0;
  if (few_) {
    group_ = std::max<size_t>(1, s.queries);
    groups_ = s.queries ? 1 : 0;
    worker_floats_ = aligned(s.keys);
    return;
  }
  block_ = std::clamp<size_t>(kScoreFloats / s.keys / 12 * 12, 12, 96);
  group_ = std::max(block_, kGroup / block_ * block_);
  block_ = std::min(block_, s.queries);
  groups_ = (s.queries + group_ - 1) / group_;
  const size_t last = s.queries % block_ ? s.queries % block_ : block_;
  const size_t rows[2] = {block_, last};
  for (int i = 0; i < 2; ++i) {
    scores_[i] = GemmPlan(scores_shape(s, rows[i]), BSource::packed);
    values_[i] = GemmPlan(values_shape(s, rows[i]), BSource::packed);
  }
  packed_keys_ = aligned(scores_[0].packed_b_floats());
  packed_values_ = aligned(values_[0].packed_b_floats());
  score_floats_ = aligned(block_ * s.keys);
  size_t product = 0;
  for (int i = 0; i < 2; ++i)
    product = std::max({product, scores_[i].scratch_floats(1), values_[i].scratch_floats(1)});
  worker_floats_ = packed_keys_ + packed_values_ + score_floats_ + aligned(product);
}

class AttentionRun {
 public:
  AttentionRun(const AttentionPlan& plan, const float* q, const float* k, const float* v, const void* mask,
               float* out, float* scratch)
      : p_(plan), s_(plan.shape_), q_(q), k_(k), v_(v), mask_(mask), out_(out), scratch_(scratch) {}

  void run(Parallel& parallel) {
    const size_t entries = s_.batch * s_.heads, chunks = entries * p_.groups_;
    const size_t work = s_.queries * s_.keys * (s_.head_size + s_.value_size + 8);
    if (chunks == 0) return;
    // Heads together where one is less than some twenty microseconds.
    const size_t each = std::clamp<size_t>(512 * 1024 / (work / p_.groups_ + 1), 1, chunks);
    const auto range = [&](size_t begin, size_t end, size_t worker) {
      for (size_t u = begin; u < end; ++u)
        group(u / p_.groups_, u % p_.groups_, scratch_ + worker * p_.worker_floats_);
    };
    const size_t calls = (chunks + each - 1) / each;
    if (calls == 1) return range(0, chunks, 0);
    parallel.run(calls,
                 [&](size_t i, size_t worker) { range(i * each, std::min(chunks, (i + 1) * each), worker); });
  }

 private:
  static ptrdiff_t offset(const AttentionStrides& s, size_t batch, size_t head) {
    return static_cast<ptrdiff_t>(batch) * s.batch + static_cast<ptrdiff_t>(head) * s.head;
  }

  // One head's queries [index * group_, ...).
  void group(size_t entry, size_t index, float* scratch) const {
    const size_t b = entry / s_.heads, h = entry % s_.heads, kv = h / (s_.heads / s_.kv_heads);
    const float *q = q_ + offset(s_.q, b, h), *k = k_ + offset(s_.k, b, kv), *v = v_ + offset(s_.v, b, kv);
    float* out = out_ + offset(s_.out, b, h);
    const size_t begin = index * p_.group_, end = std::min(s_.queries, begin + p_.group_);
    if (p_.few_) return few(b, h, q, k, v, out, scratch);
    float *keys = scratch, *values = keys + p_.packed_keys_, *scores = values + p_.packed_values_;
    float* product = scores + p_.score_floats_;
    Serial serial;
    pack_b(p_.scores_[0], k, keys, serial);
    pack_b(p_.values_[0], v, values, serial);
    Epilogue scaled, plain;
    scaled.alpha = s_.scale;
    for (size_t first = begin; first < end; first += p_.block_) {
      const size_t rows = std::min(p_.block_, s_.queries - first);
      const int which = rows == p_.block_ ? 0 : 1;
      const ptrdiff_t at = static_cast<ptrdiff_t>(first);
      run_gemm(p_.scores_[which], q + at * s_.q.row, keys, scores, scaled, product, serial);
      for (size_t r = 0; r < rows; ++r) weigh(b, h, first + r, scores + r * s_.keys);
      run_gemm(p_.values_[which], scores, values, out + at * s_.out.row, plain, product, serial);
    }
  }

  void few(size_t b, size_t h, const float* q, const float* k, const float* v, float* out,
           float* scores) const {
    for (size_t i = 0; i < s_.queries; ++i) {
      const ptrdiff_t at = static_cast<ptrdiff_t>(i);
      const size_t seen = std::max<size_t>(1, visible(i));
      if (s_.keys)
        scores_of_(q + at * s_.q.row, k, s_.k.row, std::min(seen, s_.keys), s_.head_size, s_.scale, scores);
      weigh(b, h, i, scores);
      sum_values_(scores, v, s_.v.row, s_.keys ? std::min(seen, s_.keys) : 0, s_.value_size,
                  out + at * s_.out.row);
    }
  }

  size_t visible(size_t query) const {
    if (!s_.causal) return s_.keys;
    const ptrdiff_t n = static_cast<ptrdiff_t>(query) + s_.causal_offset + 1;
    return n < 0 ? 0 : std::min(s_.keys, static_cast<size_t>(n));
  }

  // From the scores of one query to its weights.
  void weigh(size_t b, size_t h, size_t query, float* s) const {
    const size_t n = visible(query);
    if (n == 0) {
      const float none = s_.blind_rows_are_zero ? 0.0f : std::numeric_limits<float>::quiet_NaN();
      std::fill(s, s + s_.keys, none);
      return;
    }
    if (s_.softcap != 0.0f) cap_(s, n, s_.softcap);
    const float* added = nullptr;
    if (mask_) {
      const ptrdiff_t* m = s_.mask_strides;
      const ptrdiff_t at = static_cast<ptrdiff_t>(b) * m[0] + static_cast<ptrdiff_t>(h) * m[1] +
                           static_cast<ptrdiff_t>(query) * m[2];
      if (s_.mask == AttentionMask::boolean) {
        forbid(static_cast<const uint8_t*>(mask_) + at, m[3], s, n);
      } else if (m[3] == 1) {
        added = static_cast<const float*>(mask_) + at;
      } else {
        const float* f = static_cast<const float*>(mask_) + at;
        for (size_t j = 0; j < n; ++j) s[j] += f[static_cast<ptrdiff_t>(j) * m[3]];
      }
    }
    softmax_(s, s, n, 1.0f, added, false);
    if (s_.blind_rows_are_zero && s[0] != s[0] && blind(b, h, query, n)) std::fill(s, s + n, 0.0f);
    std::fill(s + n, s + s_.keys, 0.0f);
  }

  static void forbid(const uint8_t* mask, ptrdiff_t stride, float* s, size_t n) {
    if (stride == 1) {
      for (size_t j = 0; j < n; ++j) s[j] = mask[j] ? s[j] : -kInf;
    } else {
      for (size_t j = 0; j < n; ++j) s[j] = mask[static_cast<ptrdiff_t>(j) * stride] ? s[j] : -kInf;
    }
  }

  // Whether the mask alone forbids every key, so that the NaN is not one of the data.
  bool blind(size_t b, size_t h, size_t query, size_t n) const {
    if (!mask_) return false;
    const ptrdiff_t* m = s_.mask_strides;
    ptrdiff_t at = static_cast<ptrdiff_t>(b) * m[0] + static_cast<ptrdiff_t>(h) * m[1] +
                   static_cast<ptrdiff_t>(query) * m[2];
    for (size_t j = 0; j < n; ++j, at += m[3])
      if (s_.mask == AttentionMask::boolean ? static_cast<const uint8_t*>(mask_)[at] != 0
                                            : static_cast<const float*>(mask_)[at] != -kInf)
        return false;
    return true;
  }

  const AttentionPlan& p_;
  const AttentionShape& s_;
  const float *q_, *k_, *v_;
  const void* mask_;
  float *out_, *scratch_;
  void (*softmax_)(const float*, float*, size_t, float, const float*, bool) = SX_PICK(softmax_row);
  void (*scores_of_)(const float*, const float*, ptrdiff_t, size_t, size_t, float,
                     float*) = SX_PICK(attend_scores);
  void (*sum_values_)(const float*, const float*, ptrdiff_t, size_t, size_t, float*) = SX_PICK(attend_values);
  void (*cap_)(float*, size_t, float) = SX_PICK(cap_scores);
};

void attention_run(const AttentionPlan& plan, const float* q, const float* k, const float* v,
                   const void* mask, float* out, float* scratch, Parallel& parallel) {
  AttentionRun(plan, q, k, v, mask, out, scratch).run(parallel);
}

}  // namespace sx::kernels
