// SPDX-License-Identifier: Apache-2.0
// f32 matrix product: C[m, n] = epilogue(A[m, k] · B[k, n]), for one matrix or a strided batch of them.
//   GemmPlan plan(shape, BSource::packed);               cuts the work by shape; no memory of its own
//   pack_b(plan, weights, packed, parallel);             once; packed holds packed_b_floats(plan) floats
//   run_gemm(plan, a, packed, c, epilogue, scratch, parallel);
// With BSource::plain, B is an ordinary matrix at each run and is packed into scratch on the way.
// Results do not depend on the number of threads. Nothing here allocates.
#pragma once
#include <cstddef>

#include "base/parallel.h"
#include "kernels/activation.h"
#include "kernels/epilogue.h"
#include "kernels/pack.h"
#include "kernels/tile.h"

namespace sx::kernels {

// Strides are in floats. A transposed operand is stored [k, m] or [n, k]. Batch entry (i, j) of A begins at
// a + i * a_batch[0] + j * a_batch[1], and so on; 0 shares one matrix. A packed B is one matrix for all
// entries.
struct GemmShape {
  size_t m = 0, n = 0, k = 0;
  size_t lda = 0, ldb = 0, ldc = 0;  // between rows as stored; 0 means dense
  bool trans_a = false, trans_b = false;
  size_t batch[2] = {1, 1};
  ptrdiff_t a_batch[2] = {0, 0}, b_batch[2] = {0, 0}, c_batch[2] = {0, 0};
};

enum class BSource { packed, plain };

class GemmPlan {
 public:
  GemmPlan() = default;
  GemmPlan(const GemmShape& shape, BSource b);

  const GemmShape& shape() const { return shape_; }
  size_t packed_b_floats() const;             // of one matrix B
  size_t scratch_floats(size_t width) const;  // for a Parallel of that width; 64-byte aligned

 private:
  friend class GemmRun;
  friend void pack_b(const GemmPlan& plan, const void* b, float* packed, Parallel& parallel);
  friend void run_gemm(const GemmPlan& plan, const float* a, const float* b, float* c,
                       const Epilogue& epilogue, float* scratch, Parallel& parallel);

  GemmShape shape_;
  BSource b_source_ = BSource::packed;
  const TileTable* tiles_ = nullptr;
  PackTable pack_ = {};
  ActivateFn activate_ = nullptr;
  size_t entries_ = 0;       // batch entries
  size_t panels_ = 0;        // of 2 * lanes columns, the last perhaps of lanes
  size_t k_blocks_ = 0;      // the inner dimension is cut so that a panel's piece stays in the cache
  size_t row_blocks_ = 0;    // rows are cut so that their piece of A stays in the cache
  size_t group_panels_ = 0;  // panels of one chunk
  size_t column_groups_ = 0;
  bool copy_a_ = false;          // A is transposed, or its stride maps rows onto the same cache sets
  bool pack_per_chunk_ = false;  // plain B of a batch: each chunk is some entries and packs their B itself
  size_t chunk_entries_ = 1;
};

// `b` need not be aligned at all.
void pack_b(const GemmPlan& plan, const void* b, float* packed, Parallel& parallel);

void run_gemm(const GemmPlan& plan, const float* a, const float* b, float* c, const Epilogue& epilogue,
              float* scratch, Parallel& parallel);

}  // namespace sx::kernels
