// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention in float: softmax(scale Q K' + mask) V for each batch entry and head. Strides
// are free, so [batch, head, row, size] and [batch, row, head, size] need no transposing. A block of queries
// meets all keys, its scores stay in the second-level cache; the score matrix never exists as a whole.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/gemm.h"

namespace sx::kernels {

enum class AttentionMask : uint8_t {
  none,
  additive,  // float
  boolean,   // one byte: zero forbids
};

// In elements; the last dimension is dense.
struct AttentionStrides {
  ptrdiff_t batch = 0, head = 0, row = 0;
};

struct AttentionShape {
  size_t batch = 1, heads = 1,
         kv_heads = 1;  // kv_heads divides heads; query head h uses h / (heads / kv_heads)
  size_t queries = 0, keys = 0, head_size = 0, value_size = 0;
  AttentionStrides q, k, v, out;  // row strides of q, k, v and out are positive
  float scale = 1.0f;
  float softcap = 0.0f;  // not 0: scores become softcap tanh(score / softcap), before the mask
  bool causal = false;   // query i sees keys j <= i + causal_offset
  ptrdiff_t causal_offset = 0;
  AttentionMask mask = AttentionMask::none;
  ptrdiff_t mask_strides[4] = {0, 0, 0, 0};  // batch, head, query, key; 0 where broadcast
  bool blind_rows_are_zero = false;  // a query that sees no key gives zeros; else NaN, as the definition does
};

class AttentionPlan {
 public:
  AttentionPlan() = default;
  explicit AttentionPlan(const AttentionShape& shape);
  const AttentionShape& shape() const { return shape_; }
  size_t scratch_floats(size_t width) const { return width * worker_floats_; }  // 64-byte aligned

 private:
  friend class AttentionRun;
  enum { whole, last };
  AttentionShape shape_;
  bool few_ = false;                      // so few queries that packing keys and values would not pay
  size_t rows_ = 1;                       // queries of a block
  size_t keys_ = 1, key_blocks_ = 1;      // keys of a block
  size_t group_ = 1, groups_ = 1;         // queries of a chunk, which packs keys and values for itself
  GemmPlan scores_[2][2], values_[2][2];  // [whole or last block of queries][of keys]
  size_t packed_keys_ = 0, packed_values_ = 0, score_floats_ = 0, worker_floats_ = 0;
};

// mask is float or bytes as the shape says, null when there is none. out must not overlap the inputs.
void attention_run(const AttentionPlan& plan, const float* q, const float* k, const float* v,
                   const void* mask, float* out, float* scratch, Parallel& parallel);

}  // namespace sx::kernels
