// SPDX-License-Identifier: Apache-2.0
// Two products with a softmax between them, a block of queries at a time.
#include "kernels/attention.h"

#include <algorithm>
#include <limits>

#include "base/task.h"
#include "kernels/dispatch.h"

SX_LEVELS(void attend_scores(const float* q, const float* k, ptrdiff_t k_row, size_t keys, size_t size,
                             float scale, float* scores))
SX_LEVELS(void attend_values(const float* p, const float* v, ptrdiff_t v_row, size_t keys, size_t size,
                             float* out))
SX_LEVELS(void cap_scores(float* s, size_t n, float cap))
SX_LEVELS(float weigh_scores(float* s, size_t n, const float* mask, float* top, float* sum))
SX_LEVELS(void scale_row(float* x, size_t n, float factor))

namespace sx::kernels {
namespace {

constexpr size_t kScoreFloats = 48 * 1024;       // of a block: a fifth of a small second-level cache
constexpr size_t kWholeKeys = 768, kKeys = 512;  // up to so many in one block; else about so many in each
constexpr size_t kGroup = 384;                   // queries that share one packing of keys and values
constexpr size_t kFew = 6;                       // queries that need no packing
constexpr size_t kKeysAtOnce = 128 * 1024;       // for them, without a look at the stop flag
constexpr float kInf = std::numeric_limits<float>::infinity();

size_t aligned(size_t floats) { return (floats + 15) / 16 * 16; }

// Between rows of scores: rows a power of two apart would fall on the same few cache sets.
size_t score_stride(size_t keys) { return aligned(keys) % 256 ? aligned(keys) : aligned(keys) + 16; }

GemmShape scores_shape(const AttentionShape& s, size_t rows, size_t keys, size_t stride) {
  GemmShape g;
  g.m = rows, g.n = keys, g.k = s.head_size;
  g.lda = static_cast<size_t>(s.q.row), g.ldb = static_cast<size_t>(s.k.row), g.ldc = stride;
  g.trans_b = true;
  return g;
}

GemmShape values_shape(const AttentionShape& s, size_t rows, size_t keys, size_t stride) {
  GemmShape g;
  g.m = rows, g.n = s.value_size, g.k = keys;
  g.lda = stride, g.ldb = static_cast<size_t>(s.v.row), g.ldc = static_cast<size_t>(s.out.row);
  return g;
}

}  // namespace

AttentionPlan::AttentionPlan(const AttentionShape& shape) : shape_(shape) {
  const AttentionShape& s = shape_;
  few_ = (s.queries <= kFew && s.keys <= kKeysAtOnce) || s.keys == 0;
  if (few_) {
    group_ = std::max<size_t>(1, s.queries);
    groups_ = s.queries ? 1 : 0;
    worker_floats_ = aligned(s.keys);
    return;
  }
  key_blocks_ = s.keys <= kWholeKeys ? 1 : (s.keys + kKeys - 1) / kKeys;
  keys_ = aligned((s.keys + key_blocks_ - 1) / key_blocks_);
  if (key_blocks_ == 1) keys_ = s.keys;
  key_blocks_ = (s.keys + keys_ - 1) / keys_;
  rows_ = std::clamp<size_t>(kScoreFloats / keys_ / 12 * 12, 12, 96);
  group_ = std::max(rows_, kGroup / rows_ * rows_);
  rows_ = std::min(rows_, s.queries);
  groups_ = (s.queries + group_ - 1) / group_;
  const size_t rows[2] = {rows_, s.queries % rows_ ? s.queries % rows_ : rows_};
  const size_t keys[2] = {keys_, s.keys % keys_ ? s.keys % keys_ : keys_};
  const size_t stride = score_stride(keys_);
  size_t product = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      scores_[i][j] = GemmPlan(scores_shape(s, rows[i], keys[j], stride), BSource::packed);
      values_[i][j] = GemmPlan(values_shape(s, rows[i], keys[j], stride), BSource::packed);
      product = std::max({product, scores_[i][j].scratch_floats(1), values_[i][j].scratch_floats(1)});
    }
  packed_keys_ = aligned(scores_[whole][whole].packed_b_floats());
  packed_values_ = aligned(values_[whole][whole].packed_b_floats());
  score_floats_ = rows_ * stride;
  worker_floats_ = packed_keys_ + packed_values_ + score_floats_ + 2 * aligned(group_) + aligned(product);
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
  // One head of one batch entry.
  struct Head {
    size_t batch, head;
    const float *q, *k, *v;
    float* out;
  };

  static ptrdiff_t offset(const AttentionStrides& s, size_t batch, size_t head) {
    return static_cast<ptrdiff_t>(batch) * s.batch + static_cast<ptrdiff_t>(head) * s.head;
  }

  void group(size_t entry, size_t index, float* scratch) const {
    const size_t b = entry / s_.heads, h = entry % s_.heads, kv = h / (s_.heads / s_.kv_heads);
    const Head head = {b,
                       h,
                       q_ + offset(s_.q, b, h),
                       k_ + offset(s_.k, b, kv),
                       v_ + offset(s_.v, b, kv),
                       out_ + offset(s_.out, b, h)};
    if (p_.few_) return few(head, scratch);
    const size_t begin = index * p_.group_, end = std::min(s_.queries, begin + p_.group_);
    float *keys = scratch, *values = keys + p_.packed_keys_, *scores = values + p_.packed_values_;
    float *top = scores + p_.score_floats_, *sum = top + aligned(p_.group_);
    std::fill(top, top + p_.group_, -kInf);
    std::fill(sum, sum + p_.group_, 0.0f);
    Serial serial;
    for (size_t block = 0; block < p_.key_blocks_ && !stop_requested(); ++block) {
      const size_t first_key = block * p_.keys_;
      if (block > 0 && visible(end - 1) <= first_key) break;
      const int which = block + 1 == p_.key_blocks_ ? AttentionPlan::last : AttentionPlan::whole;
      pack_b(p_.scores_[0][which], head.k + static_cast<ptrdiff_t>(first_key) * s_.k.row, keys, serial);
      pack_b(p_.values_[0][which], head.v + static_cast<ptrdiff_t>(first_key) * s_.v.row, values, serial);
      for (size_t first = begin; first < end && !stop_requested(); first += p_.rows_)
        block_of_queries(head, first, begin, block, which, scratch);
    }
    for (size_t i = begin; i < end; ++i) finish(head, i, sum[i - begin]);
  }

  // Queries [first, ...) against the packed block of keys.
  void block_of_queries(const Head& head, size_t first, size_t begin, size_t block, int which,
                        float* scratch) const {
    const float *keys = scratch, *values = keys + p_.packed_keys_;
    float* scores = scratch + p_.packed_keys_ + p_.packed_values_;
    float *top = scores + p_.score_floats_, *sum = top + aligned(p_.group_),
          *product = sum + aligned(p_.group_);
    const size_t rows = std::min(p_.rows_, s_.queries - first), first_key = block * p_.keys_;
    if (block > 0 && visible(first + rows - 1) <= first_key) return;
    const size_t count = std::min(p_.keys_, s_.keys - first_key), stride = score_stride(p_.keys_);
    const int last = rows == p_.rows_ ? AttentionPlan::whole : AttentionPlan::last;
    float* out = head.out + static_cast<ptrdiff_t>(first) * s_.out.row;
    Serial serial;
    Epilogue scaled, added;
    scaled.alpha = s_.scale;
    run_gemm(p_.scores_[last][which], head.q + static_cast<ptrdiff_t>(first) * s_.q.row, keys, scores, scaled,
             product, serial);
    for (size_t r = 0; r < rows; ++r) {
      const size_t i = first + r;
      const float factor =
          weigh(head, i, first_key, count, scores + r * stride, &top[i - begin], &sum[i - begin]);
      if (block > 0 && factor != 1.0f)
        scale_(out + static_cast<ptrdiff_t>(r) * s_.out.row, s_.value_size, factor);
    }
    if (block > 0) {
      added.residual = out;
      added.residual_stride = static_cast<size_t>(s_.out.row);
    }
    run_gemm(p_.values_[last][which], scores, values, out, added, product, serial);
  }

  void few(const Head& head, float* scores) const {
    for (size_t i = 0; i < s_.queries; ++i) {
      const ptrdiff_t at = static_cast<ptrdiff_t>(i);
      const size_t n = visible(i);
      float *out = head.out + at * s_.out.row, top = -kInf, sum = 0;
      scores_of_(head.q + at * s_.q.row, head.k, s_.k.row, n, s_.head_size, s_.scale, scores);
      weigh(head, i, 0, n, scores, &top, &sum);
      sum_values_(scores, head.v, s_.v.row, n, s_.value_size, out);
      finish(head, i, sum);
    }
  }

  void finish(const Head& head, size_t query, float sum) const {
    float* out = head.out + static_cast<ptrdiff_t>(query) * s_.out.row;
    // No key was seen: every weight was zero.
    if (sum == 0.0f)
      std::fill(out, out + s_.value_size,
                s_.blind_rows_are_zero ? 0.0f : std::numeric_limits<float>::quiet_NaN());
    else
      scale_(out, s_.value_size, 1.0f / sum);
  }

  size_t visible(size_t query) const {
    if (!s_.causal) return s_.keys;
    const ptrdiff_t n = static_cast<ptrdiff_t>(query) + s_.causal_offset + 1;
    return n < 0 ? 0 : std::min(s_.keys, static_cast<size_t>(n));
  }

  // From scores of keys [first, first + count) to weights, and the factor of weigh_scores.
  float weigh(const Head& head, size_t query, size_t first, size_t count, float* s, float* top,
              float* sum) const {
    const size_t seen = visible(query), n = seen <= first ? 0 : std::min(count, seen - first);
    std::fill(s + n, s + count, 0.0f);
    if (n == 0) return 1.0f;
    if (s_.softcap != 0.0f) cap_(s, n, s_.softcap);
    const float* added = nullptr;
    if (mask_) {
      const ptrdiff_t* m = s_.mask_strides;
      const ptrdiff_t at = static_cast<ptrdiff_t>(head.batch) * m[0] +
                           static_cast<ptrdiff_t>(head.head) * m[1] + static_cast<ptrdiff_t>(query) * m[2] +
                           static_cast<ptrdiff_t>(first) * m[3];
      if (s_.mask == AttentionMask::boolean) {
        forbid(static_cast<const uint8_t*>(mask_) + at, m[3], s, n);
      } else if (m[3] == 1) {
        added = static_cast<const float*>(mask_) + at;
      } else {
        const float* f = static_cast<const float*>(mask_) + at;
        for (size_t j = 0; j < n; ++j) s[j] += f[static_cast<ptrdiff_t>(j) * m[3]];
      }
    }
    return weigh_(s, n, added, top, sum);
  }

  static void forbid(const uint8_t* mask, ptrdiff_t stride, float* s, size_t n) {
    if (stride == 1) {
      for (size_t j = 0; j < n; ++j) s[j] = mask[j] ? s[j] : -kInf;
    } else {
      for (size_t j = 0; j < n; ++j) s[j] = mask[static_cast<ptrdiff_t>(j) * stride] ? s[j] : -kInf;
    }
  }

  const AttentionPlan& p_;
  const AttentionShape& s_;
  const float *q_, *k_, *v_;
  const void* mask_;
  float *out_, *scratch_;
  float (*weigh_)(float*, size_t, const float*, float*, float*) = SX_PICK(weigh_scores);
  void (*scale_)(float*, size_t, float) = SX_PICK(scale_row);
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
