// SPDX-License-Identifier: Apache-2.0
// Dense convolution as a product: rows are output positions, columns output channels, the inner dimension
// runs over what lies under the kernel. Tiles read the input in place where it is regular, else gathered
// rows.
#include "base/task.h"
#include "kernels/conv_run.h"
#include "kernels/cut.h"

namespace sx::kernels {

class ConvDense {
 public:
  ConvDense(const ConvPlan& plan, const ConvOperands& operands)
      : p_(plan), s_(plan.shape_), o_(operands), e_(operands.epilogue), g_(conv_geometry(plan.shape_)) {
    lanes_ = p_.tiles_->lanes;
    blocked_ = p_.kind_ == ConvKind::blocked;
    positions_ = p_.out_h_ * p_.out_w_;
    plane_ = s_.in_h * s_.in_w;
    args_.alpha = e_.alpha;
    args_.bias_scale = e_.bias_scale;
    args_.zero_tail = 1;
    args_.c_row = args_.add_row = lanes_;
    args_.c_vector = args_.add_vector = positions_ * lanes_;
    clip_ = is_clip(e_, args_.low, args_.high);
  }

  void chunk(size_t index, float* scratch) const {
    Chunk c;
    const size_t cg = index % p_.column_groups_, rest = index / p_.column_groups_;
    const size_t rb = rest % p_.row_blocks_, group = rest / p_.row_blocks_ % s_.groups;
    c.image = rest / p_.row_blocks_ / s_.groups;
    c.panel0 = cg * p_.group_panels_;
    c.panel1 = std::min(p_.panels_, c.panel0 + p_.group_panels_);
    c.unit0 = cut(p_.lines_ ? p_.out_h_ : positions_, p_.row_blocks_, rb);
    c.unit1 = cut(p_.lines_ ? p_.out_h_ : positions_, p_.row_blocks_, rb + 1);
    c.tiles =
        p_.lines_ ? (c.unit1 - c.unit0) * p_.line_tiles_ : divide_up(c.unit1 - c.unit0, p_.tiles_->max_rows);
    c.channel0 = group * p_.out_group_;
    const size_t in_blocks = divide_up(s_.in_channels, lanes_),
                 out_blocks = divide_up(s_.out_channels, lanes_);
    c.input = blocked_ ? o_.input + (c.image * in_blocks + group * p_.in_group_ / lanes_) * plane_ * lanes_
                       : o_.input + c.image * s_.in_channels * plane_;
    const size_t out_at = (c.image * out_blocks + c.channel0 / lanes_) * positions_ * lanes_;
    c.output = o_.output + out_at;
    c.residual = e_.residual ? e_.residual + out_at : nullptr;
    c.packed = o_.packed + group * divide_up(p_.out_group_, lanes_) * lanes_ * p_.inner();
    c.scratch = scratch;
    if (p_.padded_) pad_lines(c);
    StopCheck<kWorkPerLook> stop;
    for (size_t kb = 0; kb < p_.k_blocks_; ++kb) {
      c.piece0 = cut(p_.pieces_, p_.k_blocks_, kb);
      c.piece1 = cut(p_.pieces_, p_.k_blocks_, kb + 1);
      c.k0 = p_.inner_of(c.piece0);
      c.k1 = c.piece1 == p_.pieces_ ? p_.inner() : p_.inner_of(c.piece1);
      c.first = kb == 0;
      c.last = kb + 1 == p_.k_blocks_;
      gather(c);
      const size_t work = c.tiles * p_.tiles_->max_rows * (c.k1 - c.k0);
      for (size_t panel = c.panel0; panel < c.panel1 && !stop(work);) {
        const Together side = side_by_side(c, panel);
        for (size_t t = 0; t < c.tiles; ++t) tile(c, panel, side, t);
        panel += side.panels;
      }
    }
  }

 private:
  struct Chunk {
    size_t image, channel0;               // channel0: the group's first output channel
    size_t panel0, panel1, unit0, unit1;  // units are positions or lines
    size_t tiles;
    size_t piece0, piece1, k0, k1;
    bool first, last;  // of the blocks of the inner dimension
    const float* input;
    const float* packed;
    const float* residual;
    float* output;
    float* scratch;
  };
  struct Span {
    size_t first, count;
  };

  // The output positions of tile t.
  Span span(const Chunk& c, size_t t) const {
    if (p_.lines_) {
      const size_t line = c.unit0 + t / p_.line_tiles_, part = t % p_.line_tiles_;
      const size_t x0 = cut(p_.out_w_, p_.line_tiles_, part), x1 = cut(p_.out_w_, p_.line_tiles_, part + 1);
      return {line * p_.out_w_ + x0, x1 - x0};
    }
    const size_t rows = c.unit1 - c.unit0, r0 = cut(rows, c.tiles, t), r1 = cut(rows, c.tiles, t + 1);
    return {c.unit0 + r0, r1 - r0};
  }

  bool reads_in_place(const Span& span) const {
    if (p_.in_place_ || p_.padded_) return true;
    if (!p_.lines_) return false;
    const size_t y = span.first / p_.out_w_ * s_.stride_h, x = span.first % p_.out_w_ * s_.stride_w;
    const size_t x_end = x + (span.count - 1) * s_.stride_w + (s_.kernel_w - 1) * s_.dilation_w;
    return y >= s_.pad_top && y + (s_.kernel_h - 1) * s_.dilation_h - s_.pad_top < s_.in_h &&
           x >= s_.pad_left && x_end - s_.pad_left < s_.in_w;
  }

  size_t row_stride(const Chunk& c) const { return copied_row_stride(c.k1 - c.k0 + lanes_); }

  float* gathered(const Chunk& c, const Span& span) const {
    return c.scratch + (span.first - (p_.lines_ ? c.unit0 * p_.out_w_ : c.unit0)) * row_stride(c);
  }

  // The input lines under the chunk's output lines, with zeros for the padding.
  void pad_lines(const Chunk& c) const {
    const size_t lines = (c.unit1 - c.unit0 - 1) * s_.stride_h + (s_.kernel_h - 1) * s_.dilation_h + 1;
    const size_t width = p_.padded_w_, begin = std::min(width, s_.pad_left);
    const size_t n = std::min(width - begin, s_.in_w);
    for (size_t channel = 0; channel < p_.in_group_; ++channel)
      for (size_t i = 0; i < lines; ++i) {
        float* to = c.scratch + (channel * p_.padded_lines_ + i) * width;
        const size_t y = c.unit0 * s_.stride_h + i - s_.pad_top;  // past the end also when negative
        if (y >= s_.in_h) {
          std::fill_n(to, width, 0.0f);
          continue;
        }
        std::fill_n(to, begin, 0.0f);
        std::copy_n(c.input + channel * plane_ + y * s_.in_w, n, to + begin);
        std::fill_n(to + begin + n, width - begin - n, 0.0f);
      }
  }

  void gather(const Chunk& c) const {
    if (p_.in_place_ || p_.padded_) return;
    for (size_t t = 0; t < c.tiles; ++t) {
      const Span rows = span(c, t);
      if (reads_in_place(rows)) continue;
      const ConvGather args = {g_,         c.input,    p_.in_group_,      c.piece0,     c.piece1,
                               rows.first, rows.count, gathered(c, rows), row_stride(c)};
      (blocked_ ? p_.table_.gather_blocked : p_.table_.gather_plain)(&args);
    }
  }

  void set_rows(const Chunk& c, const Span& rows, TileArgs& t) const {
    if (!reads_in_place(rows)) {
      t.a = gathered(c, rows);
      t.a_row = static_cast<ptrdiff_t>(row_stride(c));
      sum_in_pieces(t, c.k1 - c.k0, p_.steps_per_sum_ * p_.piece_);
      return;
    }
    const size_t unit = blocked_ ? lanes_ : 1;
    const size_t line = rows.first / p_.out_w_, x = rows.first % p_.out_w_ * s_.stride_w;
    t.a = p_.padded_ ? c.scratch + (line - c.unit0) * s_.stride_h * p_.padded_w_ + x
                     : c.input + ((line * s_.stride_h - s_.pad_top) * s_.in_w + x - s_.pad_left) * unit;
    t.a_row = static_cast<ptrdiff_t>(s_.stride_w * unit);
    t.step_offset = p_.piece_offset_.data() + c.piece0;
    t.inner = p_.piece_;
    t.steps = (c.k1 - c.k0) / p_.piece_;
    t.last = (c.k1 - c.k0) % p_.piece_;
    t.steps_per_sum = p_.steps_per_sum_;
  }

  Together side_by_side(const Chunk& c, size_t panel) const {
    if (p_.lines_) return {1, nullptr};
    const size_t full = (p_.out_group_ + lanes_ - 1) / (2 * lanes_);  // panels of two vectors
    return panels_together(*p_.tiles_, c.unit1 - c.unit0, std::min(c.panel1, full) - std::min(panel, full));
  }

  void tile(const Chunk& c, size_t panel, const Together& side, size_t index) const {
    const size_t width = 2 * lanes_, col = panel * width,
                 cols = std::min(side.panels * width, p_.out_group_ - col);
    const bool narrow = cols <= lanes_;
    const Span rows = span(c, index);
    TileArgs t = args_;
    set_rows(c, rows, t);
    t.b = c.packed + col * p_.inner() + c.k0 * (narrow ? lanes_ : width);
    t.b_panel = width * p_.inner();
    const size_t at = (col / lanes_ * positions_ + rows.first) * lanes_;
    t.c = c.output + at;
    t.cols = cols;
    if (!c.first) {
      t.add = t.c;
      t.beta = 1.0f;
    } else if (c.residual) {
      t.add = c.residual + at;
      t.beta = e_.beta;
    }
    if (c.last) {
      t.bias_col = e_.bias ? e_.bias + c.channel0 + col : nullptr;
      t.clip = clip_;
    }
    if (side.fn)
      side.fn(&t);
    else
      (narrow ? p_.tiles_->narrow : p_.tiles_->normal)[rows.count - 1](&t);
    if (c.last) after(c, rows, col, cols, t.c);
  }

  void after(const Chunk& c, const Span& rows, size_t col, size_t cols, float* out) const {
    const bool activate = !clip_ && e_.activation != Activation::none;
    if (!activate && !e_.post) return;
    for (size_t j = 0; j < cols; j += lanes_, out += positions_ * lanes_) {
      const size_t n = std::min(lanes_, cols - j);
      const bool whole = n == lanes_;
      if (activate)
        p_.activate_(e_.activation, e_.low, e_.high, out, whole ? 1 : rows.count,
                     whole ? rows.count * lanes_ : n, lanes_);
      if (e_.post)
        e_.post(e_.post_context, out, c.image, rows.first, rows.count, c.channel0 + col + j, n, lanes_);
    }
  }

  const ConvPlan& p_;
  const ConvShape& s_;
  const ConvOperands& o_;
  const Epilogue& e_;
  ConvGeometry g_;
  TileArgs args_ = {};
  bool clip_ = false, blocked_ = false;
  size_t lanes_ = 0, positions_ = 0, plane_ = 0;
};

void run_dense(const ConvPlan& plan, const ConvOperands& operands, Parallel& parallel) {
  run_with_scratch<ConvDense>(plan, operands, parallel);
}

}  // namespace sx::kernels
