// SPDX-License-Identifier: Apache-2.0
// Dimensions are put in the order of the destination and joined; the innermost one or two decide how elements
// move.
#include "kernels/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "kernels/chunks.h"
#include "kernels/dispatch.h"

SX_LEVELS(void transpose_words(const void* src, ptrdiff_t src_step, void* dst, ptrdiff_t dst_step,
                               size_t rows, size_t cols))

namespace sx::kernels {
namespace {

constexpr size_t kChunkBytes = 128 * 1024, kLongRowBytes = 1024 * 1024;

struct Bytes16 {
  uint64_t half[2];
};

template <class T>
T read(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
void write(char* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

template <class T>
void copy_elements(const char* s, ptrdiff_t ss, char* d, ptrdiff_t ds, size_t n) {
  if (ds == static_cast<ptrdiff_t>(sizeof(T))) {
    for (size_t i = 0; i < n; ++i) write(d + i * sizeof(T), read<T>(s + static_cast<ptrdiff_t>(i) * ss));
  } else {
    for (size_t i = 0; i < n; ++i)
      write(d + static_cast<ptrdiff_t>(i) * ds, read<T>(s + static_cast<ptrdiff_t>(i) * ss));
  }
}

template <class T>
void fill_elements(const char* s, char* d, size_t n) {
  const T v = read<T>(s);
  for (size_t i = 0; i < n; ++i) write(d + i * sizeof(T), v);
}

// dst[j][i] = src[i][j]; squares small enough that both sides stay in the first-level cache.
template <class T>
void transpose_elements(const void* src, ptrdiff_t src_step, void* dst, ptrdiff_t dst_step, size_t rows,
                        size_t cols) {
  constexpr size_t kSquare = 16;
  for (size_t i0 = 0; i0 < rows; i0 += kSquare)
    for (size_t j0 = 0; j0 < cols; j0 += kSquare)
      for (size_t j = j0; j < std::min(cols, j0 + kSquare); ++j) {
        const char* s = static_cast<const char*>(src) + j * sizeof(T);
        char* d = static_cast<char*>(dst) + static_cast<ptrdiff_t>(j) * dst_step;
        for (size_t i = i0; i < std::min(rows, i0 + kSquare); ++i)
          write(d + i * sizeof(T), read<T>(s + static_cast<ptrdiff_t>(i) * src_step));
      }
}

template <size_t N>
void copy_short_runs(const char* s, ptrdiff_t ss, char* d, ptrdiff_t ds, size_t rows) {
  for (size_t r = 0; r < rows; ++r)
    std::memcpy(d + static_cast<ptrdiff_t>(r) * ds, s + static_cast<ptrdiff_t>(r) * ss, N);
}

void copy_runs(const char* s, ptrdiff_t ss, char* d, ptrdiff_t ds, size_t rows, size_t bytes) {
  switch (bytes) {
    case 4: return copy_short_runs<4>(s, ss, d, ds, rows);
    case 8: return copy_short_runs<8>(s, ss, d, ds, rows);
    case 12: return copy_short_runs<12>(s, ss, d, ds, rows);
    case 16: return copy_short_runs<16>(s, ss, d, ds, rows);
    case 32: return copy_short_runs<32>(s, ss, d, ds, rows);
    case 64: return copy_short_runs<64>(s, ss, d, ds, rows);
    case 128: return copy_short_runs<128>(s, ss, d, ds, rows);
    default:
      for (size_t r = 0; r < rows; ++r)
        std::memcpy(d + static_cast<ptrdiff_t>(r) * ds, s + static_cast<ptrdiff_t>(r) * ss, bytes);
  }
}

// Calls f with a value of the unsigned type that is `element` bytes wide.
template <class F>
void with_type(size_t element, F f) {
  switch (element) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(Bytes16{});
  }
}

size_t magnitude(ptrdiff_t v) { return static_cast<size_t>(v < 0 ? -v : v); }

}  // namespace

Result<CopyPlan> CopyPlan::make(size_t element_size, std::span<const size_t> dims,
                                std::span<const ptrdiff_t> src_strides,
                                std::span<const ptrdiff_t> dst_strides) {
  if (element_size != 1 && element_size != 2 && element_size != 4 && element_size != 8 && element_size != 16)
    return error(Code::unsupported, "strided copy moves elements of 1, 2, 4, 8 or 16 bytes, not {}",
                 element_size);
  if (src_strides.size() != dims.size() || dst_strides.size() != dims.size())
    return error(Code::invalid_argument, "strided copy over {} dimensions is given {} and {} strides",
                 dims.size(), src_strides.size(), dst_strides.size());
  CopyPlan plan;
  plan.element_ = element_size;
  plan.total_ = 1;
  for (size_t d : dims) plan.total_ *= d;
  if (plan.total_ == 0) return plan;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    const ptrdiff_t e = static_cast<ptrdiff_t>(element_size);
    const Dim dim = {dims[d], src_strides[d] * e, dst_strides[d] * e};
    Dim* last = plan.outer_count_ ? &plan.outer_[plan.outer_count_ - 1] : nullptr;
    const ptrdiff_t size = static_cast<ptrdiff_t>(dim.size);
    if (last && last->src == dim.src * size && last->dst == dim.dst * size) {
      *last = {last->size * dim.size, dim.src, dim.dst};
      continue;
    }
    if (plan.outer_count_ == kCopyMaxDims)
      return error(Code::unsupported, "strided copy needs more than {} dimensions", kCopyMaxDims);
    plan.outer_[plan.outer_count_++] = dim;
  }
  plan.join_dims();
  plan.choose_kind();
  return plan;
}

// In the order of the destination, neighbours that both sides cross with one stride become one.
void CopyPlan::join_dims() {
  // Insertion sort: std::stable_sort would allocate.
  for (size_t i = 1; i < outer_count_; ++i)
    for (size_t k = i; k > 0 && magnitude(outer_[k - 1].dst) < magnitude(outer_[k].dst); --k)
      std::swap(outer_[k - 1], outer_[k]);
  size_t n = 0;
  for (size_t i = 0; i < outer_count_; ++i) {
    const Dim dim = outer_[i];
    const ptrdiff_t size = static_cast<ptrdiff_t>(dim.size);
    if (n > 0 && outer_[n - 1].src == dim.src * size && outer_[n - 1].dst == dim.dst * size)
      outer_[n - 1] = {outer_[n - 1].size * dim.size, dim.src, dim.dst};
    else
      outer_[n++] = dim;
  }
  outer_count_ = n;
}

void CopyPlan::choose_kind() {
  const auto pop = [&](size_t at) {
    const Dim d = outer_[at];
    for (size_t k = at + 1; k < outer_count_; ++k) outer_[k - 1] = outer_[k];
    --outer_count_;
    return d;
  };
  const ptrdiff_t e0 = static_cast<ptrdiff_t>(element_);
  // A short dense run is a wider element.
  if (outer_count_ > 1) {
    const Dim last = outer_[outer_count_ - 1];
    const size_t wide = last.size * element_;
    if (last.src == e0 && last.dst == e0 && (wide == 2 || wide == 4 || wide == 8 || wide == 16)) {
      element_ = wide;
      pop(outer_count_ - 1);
    }
  }
  const ptrdiff_t e = static_cast<ptrdiff_t>(element_);
  inner_ = outer_count_ ? pop(outer_count_ - 1) : Dim{1, e, e};
  size_t across = outer_count_;  // a dimension along which the source is dense
  for (size_t d = 0; d < outer_count_; ++d)
    if (outer_[d].src == e && outer_[d].size >= 4) across = d;
  if (inner_.src == e && inner_.dst == e) {
    kind_ = Kind::runs;
  } else if (inner_.dst == e && inner_.src == 0) {
    kind_ = Kind::fills;
  } else if (inner_.dst == e && across < outer_count_ && inner_.size >= 4) {
    kind_ = Kind::transpose;
  } else {
    kind_ = Kind::elements;
  }
  const bool long_rows = inner_.size * element_ > kLongRowBytes;
  if (kind_ == Kind::transpose)
    row_ = pop(across);
  else
    row_ = outer_count_ && !long_rows ? pop(outer_count_ - 1) : Dim{1, 0, 0};
  if (kind_ == Kind::transpose && element_ == 4) transpose_ = SX_PICK(transpose_words);
  outer_total_ = 1;
  for (size_t d = 0; d < outer_count_; ++d) outer_total_ *= outer_[d].size;
  // Pieces of about kChunkBytes: of the rows, or of rows that are long themselves.
  cut_rows_ = row_.size > 1 && !long_rows;
  const size_t bytes = cut_rows_ ? inner_.size * element_ : row_.size * element_;
  const size_t size = cut_rows_ ? row_.size : inner_.size;
  piece_ = std::max<size_t>(1, kChunkBytes / bytes);
  if (kind_ == Kind::transpose) piece_ = (piece_ + 15) / 16 * 16;
  piece_ = std::min(piece_, size);
  pieces_ = (size + piece_ - 1) / piece_;
}

class CopyRun {
 public:
  CopyRun(const CopyPlan& plan, const void* src, void* dst)
      : p_(plan), src_(static_cast<const char*>(src)), dst_(static_cast<char*>(dst)) {}

  void run(Parallel& parallel) {
    if (p_.total_ == 0) return;
    const size_t units = p_.outer_total_ * p_.pieces_, bytes = p_.total_ * p_.element_;
    const size_t each = std::max<size_t>(1, bytes / units);
    for_chunks(parallel, units, kChunkBytes / each, [&](size_t begin, size_t end) { run_units(begin, end); });
  }

 private:
  void run_units(size_t begin, size_t end) const {
    size_t index[kCopyMaxDims];
    ptrdiff_t s = 0, d = 0;
    size_t piece = begin % p_.pieces_, outer = begin / p_.pieces_;
    for (size_t k = p_.outer_count_; k-- > 0; outer /= p_.outer_[k].size) {
      index[k] = outer % p_.outer_[k].size;
      s += static_cast<ptrdiff_t>(index[k]) * p_.outer_[k].src;
      d += static_cast<ptrdiff_t>(index[k]) * p_.outer_[k].dst;
    }
    for (size_t u = begin; u < end; ++u) {
      one_piece(src_ + s, dst_ + d, piece);
      if (++piece < p_.pieces_) continue;
      piece = 0;
      for (size_t k = p_.outer_count_; k-- > 0;) {
        s += p_.outer_[k].src;
        d += p_.outer_[k].dst;
        if (++index[k] < p_.outer_[k].size) break;
        s -= static_cast<ptrdiff_t>(index[k]) * p_.outer_[k].src;
        d -= static_cast<ptrdiff_t>(index[k]) * p_.outer_[k].dst;
        index[k] = 0;
      }
    }
  }

  void one_piece(const char* s, char* d, size_t piece) const {
    CopyPlan::Dim row = p_.row_, inner = p_.inner_;
    CopyPlan::Dim& cut = p_.cut_rows_ ? row : inner;
    const size_t first = piece * p_.piece_;
    s += static_cast<ptrdiff_t>(first) * cut.src;
    d += static_cast<ptrdiff_t>(first) * cut.dst;
    cut.size = std::min(p_.piece_, cut.size - first);
    switch (p_.kind_) {
      case CopyPlan::Kind::runs: return copy_runs(s, row.src, d, row.dst, row.size, inner.size * p_.element_);
      case CopyPlan::Kind::fills:
        with_type(p_.element_, [&](auto type) {
          for (size_t r = 0; r < row.size; ++r)
            fill_elements<decltype(type)>(s + static_cast<ptrdiff_t>(r) * row.src,
                                          d + static_cast<ptrdiff_t>(r) * row.dst, inner.size);
        });
        return;
      case CopyPlan::Kind::transpose:
        if (p_.transpose_) return p_.transpose_(s, inner.src, d, row.dst, inner.size, row.size);
        with_type(p_.element_, [&](auto type) {
          transpose_elements<decltype(type)>(s, inner.src, d, row.dst, inner.size, row.size);
        });
        return;
      case CopyPlan::Kind::elements:
        with_type(p_.element_, [&](auto type) {
          for (size_t r = 0; r < row.size; ++r)
            copy_elements<decltype(type)>(s + static_cast<ptrdiff_t>(r) * row.src, inner.src,
                                          d + static_cast<ptrdiff_t>(r) * row.dst, inner.dst, inner.size);
        });
        return;
    }
  }

  const CopyPlan& p_;
  const char* src_;
  char* dst_;
};

void copy_run(const CopyPlan& plan, const void* src, void* dst, Parallel& parallel) {
  CopyRun(plan, src, dst).run(parallel);
}

}  // namespace sx::kernels
