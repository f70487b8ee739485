// SPDX-License-Identifier: Apache-2.0
// Copies between two strided views of the same shape: transpose, permute, expand, slice, flip, concatenate
// are all this. Elements are 1, 2, 4, 8 or 16 bytes and need no alignment.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/parallel.h"
#include "base/result.h"

namespace sx::kernels {

constexpr size_t kCopyMaxDims = 12;  // after neighbouring dimensions have been joined

class CopyPlan {
 public:
  // Strides in elements, of any sign; 0 in the source repeats an element. No two elements of the destination
  // may share an address, and source and destination must not overlap.
  static Result<CopyPlan> make(size_t element_size, std::span<const size_t> dims,
                               std::span<const ptrdiff_t> src_strides,
                               std::span<const ptrdiff_t> dst_strides);

 private:
  friend class CopyRun;
  enum class Kind : uint8_t { runs, fills, transpose, elements };
  struct Dim {
    size_t size;
    ptrdiff_t src, dst;  // bytes
  };
  void join_dims();
  void choose_kind();

  Kind kind_ = Kind::runs;
  size_t element_ = 1;  // bytes
  Dim outer_[kCopyMaxDims] = {};
  size_t outer_count_ = 0, total_ = 0;
  Dim row_ = {1, 0, 0}, inner_ = {1, 0, 0};  // what one call of the inner loops covers
  size_t outer_total_ = 1;
  size_t pieces_ = 1, piece_ = 1;  // of inner_, or of row_ when cut_rows_
  bool cut_rows_ = true;
  void (*transpose_)(const void*, ptrdiff_t, void*, ptrdiff_t, size_t, size_t) = nullptr;
};

// src and dst point at the element with index zero.
void copy_run(const CopyPlan& plan, const void* src, void* dst, Parallel& parallel);

}  // namespace sx::kernels
