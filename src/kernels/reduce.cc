// SPDX-License-Identifier: Apache-2.0
// Dimensions are sorted into kept and reduced ones, joined where they can be; vectors run along the dense
// one.
#include "kernels/reduce.h"

#include <cmath>
#include <limits>

#include "base/format.h"
#include "base/task.h"
#include "kernels/chunks.h"
#include "kernels/dispatch.h"
#include "kernels/reduce_kinds.h"

SX_LEVELS(double reduce_row(kernels::Gather g, const float* x, size_t n, float shift, double total))
SX_LEVELS(void reduce_rows(kernels::Gather g, const float* x, size_t count, size_t n, ptrdiff_t stride,
                           const float* shift, double* total))
SX_LEVELS(void reduce_columns(kernels::Gather g, const float* x, size_t rows, ptrdiff_t stride, size_t count,
                              const float* shift, double* total))
SX_LEVELS(size_t arg_row(const float* x, size_t n, float sign, bool last))
SX_LEVELS(void arg_columns(const float* x, size_t n, size_t inner, size_t count, float sign, bool last,
                           int64_t* y))

namespace sx::kernels {
namespace {

constexpr size_t kColumns = 512;      // as in reduce.simd.cc
constexpr size_t kChunk = 64 * 1024;  // elements
constexpr size_t kSegments = 64;      // parts of a single result, at most
constexpr double kInf = std::numeric_limits<double>::infinity();

double start_of(Gather g) {
  return g == Gather::prod ? 1.0 : g == Gather::max ? -kInf : g == Gather::min ? kInf : 0.0;
}

double join(Gather g, double a, double b) {
  switch (g) {
    case Gather::prod: return a * b;
    case Gather::max: return b != b || b > a ? b : a;
    case Gather::min: return b != b || b < a ? b : a;
    default: return a + b;
  }
}

Gather gather_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod: return Gather::prod;
    case ReduceOp::max: return Gather::max;
    case ReduceOp::min: return Gather::min;
    case ReduceOp::sum_square:
    case ReduceOp::l2: return Gather::sum_square;
    case ReduceOp::l1: return Gather::sum_abs;
    case ReduceOp::log_sum_exp: return Gather::sum_exp;
    default: return Gather::sum;
  }
}

// Lanes gather in float: sums that pass its range on the way, and squares that leave it, must be gathered
// again in double.
bool out_of_range(ReduceOp op, double total) {
  constexpr double kSmallSquares = 1e-30;
  switch (op) {
    case ReduceOp::l2: return !(total > kSmallSquares) || std::isinf(total);
    case ReduceOp::sum:
    case ReduceOp::mean:
    case ReduceOp::log_sum: return !std::isfinite(total);
    default: return false;
  }
}

float finish(ReduceOp op, double total, double shift, size_t count) {
  switch (op) {
    case ReduceOp::mean: return static_cast<float>(total / static_cast<double>(count));
    case ReduceOp::l2: return static_cast<float>(std::sqrt(total));
    case ReduceOp::log_sum: return static_cast<float>(std::log(total));
    case ReduceOp::log_sum_exp:
      return static_cast<float>(std::isinf(shift) ? shift : shift + std::log(total));
    default: return static_cast<float>(total);
  }
}

}  // namespace

Result<ReducePlan> ReducePlan::make(ReduceOp op, std::span<const size_t> dims,
                                    std::span<const ptrdiff_t> strides, std::span<const bool> axes) {
  if (dims.size() != strides.size() || dims.size() != axes.size())
    return error(Code::invalid_argument, "reduction over {} dimensions is given {} strides and {} axes",
                 dims.size(), strides.size(), axes.size());
  ReducePlan plan;
  plan.op_ = op;
  bool last_kept = false;
  for (size_t d = 0; d < dims.size(); ++d) {
    (axes[d] ? plan.count_ : plan.results_) *= dims[d];
    if (dims[d] == 1) continue;
    Dim* list = axes[d] ? plan.reduced_ : plan.kept_;
    size_t& n = axes[d] ? plan.reduced_count_ : plan.kept_count_;
    // The order of reduced dimensions is free and kept ones follow each other in the result, so two of a kind
    // join even when one of the other kind lies between them, if their strides allow it.
    if (n > 0 && list[n - 1].stride == strides[d] * static_cast<ptrdiff_t>(dims[d])) {
      list[n - 1] = {list[n - 1].size * dims[d], strides[d]};
    } else {
      if (n == kReduceMaxDims)
        return error(Code::unsupported, "reduction needs more than {} dimensions", kReduceMaxDims);
      list[n++] = {dims[d], strides[d]};
    }
    last_kept = !axes[d];
  }
  const bool dense_kept = plan.kept_count_ > 0 && plan.kept_[plan.kept_count_ - 1].stride == 1;
  const bool dense_reduced = plan.reduced_count_ > 0 && plan.reduced_[plan.reduced_count_ - 1].stride == 1;
  plan.columns_ = dense_kept && (last_kept || !dense_reduced);
  if (plan.results_ == 1 && plan.reduced_count_ == 1 && dense_reduced && plan.count_ > 2 * kChunk) {
    plan.segments_ = plan.count_ / kChunk;
    if (plan.segments_ > kSegments) plan.segments_ = kSegments;
  }
  return plan;
}

class ReduceRun {
 public:
  ReduceRun(const ReducePlan& plan, const float* x, float* y) : p_(plan), x_(x), y_(y) {}

  void run(Parallel& parallel) {
    if (p_.results_ == 0) return;
    if (p_.segments_ > 1) return segments(parallel);
    const size_t work = p_.count_ ? p_.count_ : 1;
    if (!p_.columns_) {
      for_chunks(parallel, p_.results_, kChunk / work, [&](size_t begin, size_t end) {
        if (p_.kept_count_ == 1 && p_.reduced_count_ == 1 && p_.reduced_[0].stride == 1)
          return dense_rows(begin, end);
        for (size_t i = begin; i < end; ++i) one_result(i);
      });
      return;
    }
    const size_t inner = p_.kept_[p_.kept_count_ - 1].size, outer = p_.results_ / inner;
    const size_t blocks = (inner + kColumns - 1) / kColumns, block = inner < kColumns ? inner : kColumns;
    for_chunks(parallel, outer * blocks, kChunk / (work * block), [&](size_t begin, size_t end) {
      for (size_t u = begin; u < end; ++u) {
        const size_t c = u % blocks * kColumns, left = inner - c;
        column_block(u / blocks, c, left < kColumns ? left : kColumns);
      }
    });
  }

 private:
  ptrdiff_t kept_offset(size_t index, size_t dims) const {
    ptrdiff_t offset = 0;
    for (size_t d = dims; d-- > 0; index /= p_.kept_[d].size)
      offset += static_cast<ptrdiff_t>(index % p_.kept_[d].size) * p_.kept_[d].stride;
    return offset;
  }

  // f(address of a run along the last reduced dimension)
  template <class F>
  void each_run(const float* x, F f) const {
    size_t runs = 1;
    const size_t dims = p_.reduced_count_ ? p_.reduced_count_ - 1 : 0;
    for (size_t d = 0; d < dims; ++d) runs *= p_.reduced_[d].size;
    StopCheck<256> stop;
    for (size_t i = 0; i < runs && !stop(); ++i) {
      ptrdiff_t offset = 0;
      size_t index = i;
      for (size_t d = dims; d-- > 0; index /= p_.reduced_[d].size)
        offset += static_cast<ptrdiff_t>(index % p_.reduced_[d].size) * p_.reduced_[d].stride;
      f(x + offset);
    }
  }
  size_t run_size() const { return p_.reduced_count_ ? p_.reduced_[p_.reduced_count_ - 1].size : p_.count_; }
  ptrdiff_t run_stride() const { return p_.reduced_count_ ? p_.reduced_[p_.reduced_count_ - 1].stride : 1; }

  // Long runs in pieces, so that somebody may stop it; row_ and columns_ join such pieces one by one anyway.
  static constexpr size_t kPiece = 4096 * 64;

  double gather_run(Gather g, const float* x, size_t n, float shift, double total) const {
    for (size_t at = 0; at < n && (at == 0 || !stop_requested()); at += kPiece)
      total = row_(g, x + at, n - at < kPiece ? n - at : kPiece, shift, total);
    return total;
  }

  void columns(Gather g, const float* x, size_t rows, ptrdiff_t stride, size_t count, const float* shift,
               double* total) const {
    const size_t piece = kPiece / count / 64 * 64 + 64;
    for (size_t at = 0; at < rows && (at == 0 || !stop_requested()); at += piece)
      columns_(g, x + static_cast<ptrdiff_t>(at) * stride, rows - at < piece ? rows - at : piece, stride,
               count, shift, total);
  }

  double gather_row(Gather g, const float* x, size_t n, ptrdiff_t stride, float shift, double total) const {
    if (stride == 1) return gather_run(g, x, n, shift, total);
    float block[256];
    StopCheck<1024> stop;
    for (size_t at = 0; at < n && !stop(); at += 256) {
      const size_t m = n - at < 256 ? n - at : 256;
      for (size_t i = 0; i < m; ++i) block[i] = x[static_cast<ptrdiff_t>(at + i) * stride];
      total = row_(g, block, m, shift, total);
    }
    return total;
  }

  // The result over the elements from x on, whose lanes gathered `total`.
  float result(const float* x, double total, double shift) const {
    if (out_of_range(p_.op_, total) && p_.count_ > 0) {
      const bool square = p_.op_ == ReduceOp::l2;
      total = 0;
      each_run(x, [&](const float* run) {
        for (size_t k = 0; k < run_size(); ++k) {
          const double v = run[static_cast<ptrdiff_t>(k) * run_stride()];
          total += square ? v * v : v;
        }
      });
    }
    return finish(p_.op_, total, shift, p_.count_);
  }

  double gather_all(Gather g, const float* x, float shift) const {
    double total = start_of(g);
    if (p_.count_ == 0) return total;
    each_run(x,
             [&](const float* run) { total = gather_row(g, run, run_size(), run_stride(), shift, total); });
    return total;
  }

  void one_result(size_t i) {
    const float* x = x_ + kept_offset(i, p_.kept_count_);
    const double shift = p_.op_ == ReduceOp::log_sum_exp ? gather_all(Gather::max, x, 0) : 0;
    y_[i] = result(x, gather_all(gather_of(p_.op_), x, static_cast<float>(shift)), shift);
  }

  void dense_rows(size_t begin, size_t end) {
    constexpr size_t kRows = 256;
    double total[kRows], top[kRows];
    float shift[kRows];
    const bool shifted = p_.op_ == ReduceOp::log_sum_exp;
    const ptrdiff_t stride = p_.kept_[0].stride;
    for (size_t r = begin; r < end; r += kRows) {
      const size_t n = end - r < kRows ? end - r : kRows;
      const float* x = x_ + static_cast<ptrdiff_t>(r) * stride;
      if (shifted) {
        rows_(Gather::max, x, n, p_.count_, stride, nullptr, top);
        for (size_t i = 0; i < n; ++i) shift[i] = static_cast<float>(top[i]);
      }
      rows_(gather_of(p_.op_), x, n, p_.count_, stride, shifted ? shift : nullptr, total);
      for (size_t i = 0; i < n; ++i)
        y_[r + i] = result(x + static_cast<ptrdiff_t>(i) * stride, total[i], shifted ? top[i] : 0);
    }
  }

  void gather_columns(Gather g, const float* x, size_t count, const float* shift, double* total) const {
    for (size_t c = 0; c < count; ++c) total[c] = start_of(g);
    if (p_.count_ == 0) return;
    const size_t rows = run_size();
    const ptrdiff_t stride = run_stride();
    // Rows of few columns that follow each other without a gap are read many at a time and folded afterwards.
    size_t fold = stride == static_cast<ptrdiff_t>(count) && count < 64 && !shift ? kColumns / count : 1;
    if (rows / fold < 2) fold = 1;
    if (fold == 1) {
      each_run(x, [&](const float* run) { columns(g, run, rows, stride, count, shift, total); });
      return;
    }
    double wide[kColumns];
    for (size_t c = 0; c < fold * count; ++c) wide[c] = start_of(g);
    const size_t folded = rows / fold;
    each_run(x, [&](const float* run) {
      columns(g, run, folded, static_cast<ptrdiff_t>(fold * count), fold * count, nullptr, wide);
      columns(g, run + folded * fold * count, rows - folded * fold, stride, count, nullptr, total);
    });
    for (size_t c = 0; c < fold * count; ++c) total[c % count] = join(g, total[c % count], wide[c]);
  }

  void column_block(size_t outer, size_t c, size_t count) {
    const float* x = x_ + kept_offset(outer, p_.kept_count_ - 1) + c;
    float* y = y_ + outer * p_.kept_[p_.kept_count_ - 1].size + c;
    double total[kColumns], top[kColumns];
    float shift[kColumns];
    const bool shifted = p_.op_ == ReduceOp::log_sum_exp;
    if (shifted) {
      gather_columns(Gather::max, x, count, nullptr, top);
      for (size_t i = 0; i < count; ++i) shift[i] = static_cast<float>(top[i]);
    }
    gather_columns(gather_of(p_.op_), x, count, shifted ? shift : nullptr, total);
    for (size_t i = 0; i < count; ++i) y[i] = result(x + i, total[i], shifted ? top[i] : 0);
  }

  double gather_segments(Gather g, float shift, Parallel& parallel) const {
    double part[kSegments];
    const size_t n = p_.count_, base = n / p_.segments_;
    parallel.run(p_.segments_, [&](size_t s, size_t) {
      part[s] = gather_run(g, x_ + s * base, s + 1 == p_.segments_ ? n - s * base : base, shift, start_of(g));
    });
    double total = start_of(g);
    for (size_t s = 0; s < p_.segments_; ++s) total = join(g, total, part[s]);
    return total;
  }

  void segments(Parallel& parallel) {
    const double shift = p_.op_ == ReduceOp::log_sum_exp ? gather_segments(Gather::max, 0, parallel) : 0;
    const double total = gather_segments(gather_of(p_.op_), static_cast<float>(shift), parallel);
    *y_ = result(x_, total, shift);
  }

  const ReducePlan& p_;
  const float* x_;
  float* y_;
  double (*row_)(Gather, const float*, size_t, float, double) = SX_PICK(reduce_row);
  void (*rows_)(Gather, const float*, size_t, size_t, ptrdiff_t, const float*,
                double*) = SX_PICK(reduce_rows);
  void (*columns_)(Gather, const float*, size_t, ptrdiff_t, size_t, const float*,
                   double*) = SX_PICK(reduce_columns);
};

void reduce_run(const ReducePlan& plan, const float* x, float* y, Parallel& parallel) {
  ReduceRun(plan, x, y).run(parallel);
}

void arg_extreme_run(bool smallest, bool last, size_t outer, size_t n, size_t inner, const float* x,
                     int64_t* y, Parallel& parallel) {
  const float sign = smallest ? -1.0f : 1.0f;
  if (outer * n * inner == 0) return;
  if (inner == 1) {
    auto* work = SX_PICK(arg_row);
    for_chunks(parallel, outer, kChunk / n, [&](size_t begin, size_t end) {
      for (size_t r = begin; r < end; ++r) y[r] = static_cast<int64_t>(work(x + r * n, n, sign, last));
    });
    return;
  }
  auto* work = SX_PICK(arg_columns);
  const size_t blocks = (inner + kColumns - 1) / kColumns, block = inner < kColumns ? inner : kColumns;
  for_chunks(parallel, outer * blocks, kChunk / (n * block), [&](size_t begin, size_t end) {
    for (size_t u = begin; u < end; ++u) {
      const size_t o = u / blocks, c = u % blocks * kColumns, left = inner - c;
      work(x + o * n * inner + c, n, inner, left < kColumns ? left : kColumns, sign, last, y + o * inner + c);
    }
  });
}

}  // namespace sx::kernels
