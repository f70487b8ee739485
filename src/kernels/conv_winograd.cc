// SPDX-License-Identifier: Apache-2.0
// Winograd convolution F(2x2, 3x3) on the blocked layout. A chunk is a block of squares times a group of
// panels: its inputs are brought to 16 points once, then each panel is 16 products and the way back.
#include "base/task.h"
#include "kernels/conv_run.h"
#include "kernels/cut.h"

namespace sx::kernels {

class ConvWinograd {
 public:
  ConvWinograd(const ConvPlan& plan, const ConvOperands& operands)
      : p_(plan), s_(plan.shape_), o_(operands), e_(operands.epilogue), lanes_(plan.tiles_->lanes) {
    positions_ = p_.out_h_ * p_.out_w_;
    squares_ = p_.squares_h_ * p_.squares_w_;
    row_ = copied_row_stride(p_.in_group_ + lanes_);
    point_ = p_.square_stride();
    result_point_ = p_.result_stride();
    clip_ = is_clip(e_, out_.low, out_.high);
    out_.clip = clip_;
    out_.alpha = e_.alpha;
    out_.beta = e_.beta;
    out_.bias_scale = e_.bias_scale;
    out_.squares_w = p_.squares_w_;
    out_.out_h = p_.out_h_;
    out_.out_w = p_.out_w_;
    out_.point = result_point_;
  }

  void chunk(size_t index, float* scratch) const {
    const size_t cg = index % p_.column_groups_, rest = index / p_.column_groups_;
    const size_t rb = rest % p_.row_blocks_, group = rest / p_.row_blocks_ % s_.groups;
    const size_t image = rest / p_.row_blocks_ / s_.groups;
    const size_t in_blocks = divide_up(s_.in_channels, lanes_),
                 out_blocks = divide_up(s_.out_channels, lanes_);
    Block c;
    c.image = image;
    c.first = cut(squares_, p_.row_blocks_, rb);
    c.squares = cut(squares_, p_.row_blocks_, rb + 1) - c.first;
    c.channel0 = group * p_.out_group_;
    c.inputs = scratch;
    c.results = scratch + kWinogradPoints * point_;
    c.packed = o_.packed + group * divide_up(p_.out_group_, lanes_) * lanes_ * p_.in_group_ * kWinogradPoints;
    c.out_at = (image * out_blocks + c.channel0 / lanes_) * positions_ * lanes_;
    const WinogradInput in = {
        conv_geometry(s_),
        o_.input + (image * in_blocks + group * p_.in_group_ / lanes_) * s_.in_h * s_.in_w * lanes_,
        p_.in_group_,
        p_.squares_w_,
        c.first,
        c.squares,
        c.inputs,
        point_,
        row_};
    p_.winograd_.input(&in);
    const size_t end = std::min(p_.panels_, (cg + 1) * p_.group_panels_);
    for (size_t panel = cg * p_.group_panels_; panel < end && !stop_requested(); ++panel) {
      const size_t col = panel * 2 * lanes_, cols = std::min(2 * lanes_, p_.out_group_ - col);
      products(c, col, cols <= lanes_ ? lanes_ : 2 * lanes_);
      results(c, col, cols);
    }
  }

 private:
  struct Block {
    size_t image, channel0, first, squares, out_at;
    float *inputs, *results;
    const float* packed;
  };

  void products(const Block& c, size_t col, size_t width) const {
    const TileFn* tiles = width == lanes_ ? p_.tiles_->narrow : p_.tiles_->normal;
    const size_t row_tiles = divide_up(c.squares, p_.tiles_->max_rows);
    TileArgs t = {};
    sum_in_pieces(t, p_.in_group_, kSumLength);
    t.a_row = static_cast<ptrdiff_t>(row_);
    t.c_row = t.cols = width;
    t.c_vector = lanes_;
    t.alpha = 1.0f;
    for (size_t point = 0; point < kWinogradPoints; ++point) {
      t.b = c.packed + (col * kWinogradPoints + point * width) * p_.in_group_;
      for (size_t i = 0; i < row_tiles; ++i) {
        const size_t r0 = cut(c.squares, row_tiles, i), r1 = cut(c.squares, row_tiles, i + 1);
        t.a = c.inputs + point * point_ + r0 * row_;
        t.c = c.results + point * result_point_ + r0 * width;
        tiles[r1 - r0 - 1](&t);
      }
    }
  }

  void results(const Block& c, size_t col, size_t cols) const {
    WinogradOutput a = out_;
    const size_t at = c.out_at + col * positions_;
    a.from = c.results;
    a.row = cols <= lanes_ ? lanes_ : 2 * lanes_;
    a.first = c.first;
    a.squares = c.squares;
    a.channels = cols;
    a.output = o_.output + at;
    a.residual = e_.residual ? e_.residual + at : nullptr;
    a.bias = e_.bias ? e_.bias + c.channel0 + col : nullptr;
    p_.winograd_.output(&a);
    if ((!clip_ && e_.activation != Activation::none) || e_.post) after(c, col, cols, a.output);
  }

  // Line by line of results, as far as the squares of this chunk reach.
  void after(const Block& c, size_t col, size_t cols, float* out) const {
    for (size_t square = c.first; square < c.first + c.squares;) {
      const size_t ty = square / p_.squares_w_, tx = square % p_.squares_w_;
      const size_t n = std::min(c.first + c.squares - square, p_.squares_w_ - tx);
      const size_t x0 = tx * kWinogradSquare, x1 = std::min(p_.out_w_, (tx + n) * kWinogradSquare);
      const size_t y1 = std::min(p_.out_h_, (ty + 1) * kWinogradSquare);
      for (size_t y = ty * kWinogradSquare; y < y1; ++y)
        for (size_t j = 0; j < cols; j += lanes_)
          finish(c, col + j, std::min(lanes_, cols - j), y * p_.out_w_ + x0, x1 - x0,
                 out + j * positions_ + (y * p_.out_w_ + x0) * lanes_);
      square += n;
    }
  }

  void finish(const Block& c, size_t channel, size_t channels, size_t position, size_t count,
              float* out) const {
    const bool whole = channels == lanes_;
    if (!clip_ && e_.activation != Activation::none)
      p_.activate_(e_.activation, e_.low, e_.high, out, whole ? 1 : count, whole ? count * lanes_ : channels,
                   lanes_);
    if (e_.post)
      e_.post(e_.post_context, out, c.image, position, count, c.channel0 + channel, channels, lanes_);
  }

  const ConvPlan& p_;
  const ConvShape& s_;
  const ConvOperands& o_;
  const Epilogue& e_;
  WinogradOutput out_ = {};
  bool clip_ = false;
  size_t lanes_ = 0, positions_ = 0, squares_ = 0, row_ = 0, point_ = 0, result_point_ = 0;
};

void run_winograd(const ConvPlan& plan, const ConvOperands& operands, Parallel& parallel) {
  run_with_scratch<ConvWinograd>(plan, operands, parallel);
}

}  // namespace sx::kernels
