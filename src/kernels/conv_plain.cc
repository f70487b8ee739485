// SPDX-License-Identifier: Apache-2.0
// Convolution from plain to plain layout, any groups: rows are a group's output channels, columns output
// positions, gathered panel by panel.
#include "base/task.h"
#include "kernels/conv_run.h"
#include "kernels/cut.h"

namespace sx::kernels {

class ConvPlain {
 public:
  ConvPlain(const ConvPlan& plan, const ConvOperands& operands)
      : p_(plan), s_(plan.shape_), o_(operands), e_(operands.epilogue), g_(conv_geometry(plan.shape_)) {
    lanes_ = p_.tiles_->lanes;
    positions_ = p_.out_h_ * p_.out_w_;
    args_.alpha = e_.alpha;
    args_.bias_scale = e_.bias_scale;
    args_.a_row = static_cast<ptrdiff_t>(copied_row_stride(p_.inner()));
    args_.c_row = args_.add_row = positions_;
    args_.c_vector = args_.add_vector = lanes_;
    clip_ = is_clip(e_, args_.low, args_.high);
  }

  void chunk(size_t index, float* scratch) const {
    const size_t cg = index % p_.column_groups_, rest = index / p_.column_groups_;
    const size_t group = rest % s_.groups, image = rest / s_.groups;
    const size_t end = std::min(p_.panels_, (cg + 1) * p_.group_panels_);
    const float* input = o_.input + (image * s_.groups + group) * p_.in_group_ * s_.in_h * s_.in_w;
    for (size_t panel = cg * p_.group_panels_; panel < end; ++panel) {
      const size_t width = 2 * lanes_, first = panel * width, cols = std::min(width, positions_ - first);
      for (size_t kb = 0; kb < p_.k_blocks_ && !stop_requested(); ++kb) {
        const size_t k0 = cut(p_.pieces_, p_.k_blocks_, kb), k1 = cut(p_.pieces_, p_.k_blocks_, kb + 1);
        const ConvColumns args = {g_, input, k0, k1, first, cols, cols <= lanes_ ? lanes_ : width, scratch};
        p_.table_.columns(&args);
        rows(image, group, args);
      }
    }
  }

 private:
  void rows(size_t image, size_t group, const ConvColumns& b) const {
    const size_t tiles = divide_up(p_.out_group_, p_.tiles_->max_rows);
    const bool first = b.k0 == 0, last = b.k1 == p_.inner();
    for (size_t i = 0; i < tiles; ++i) {
      const size_t r0 = cut(p_.out_group_, tiles, i), count = cut(p_.out_group_, tiles, i + 1) - r0;
      const size_t channel = group * p_.out_group_ + r0;
      const size_t at = (image * s_.out_channels + channel) * positions_ + b.first;
      TileArgs t = args_;
      t.a = o_.packed + channel * static_cast<size_t>(args_.a_row) + b.k0;
      sum_in_pieces(t, b.k1 - b.k0, kSumLength);
      t.b = b.to;
      t.c = o_.output + at;
      t.cols = b.cols;
      if (!first) {
        t.add = t.c;
        t.beta = 1.0f;
      } else if (e_.residual) {
        t.add = e_.residual + at;
        t.beta = e_.beta;
      }
      if (last) {
        t.bias_row = e_.bias ? e_.bias + channel : nullptr;
        t.clip = clip_;
      }
      (b.width == lanes_ ? p_.tiles_->narrow : p_.tiles_->normal)[count - 1](&t);
      if (!last) continue;
      if (!clip_ && e_.activation != Activation::none)
        p_.activate_(e_.activation, e_.low, e_.high, t.c, count, b.cols, positions_);
      if (e_.post) e_.post(e_.post_context, t.c, image, channel, count, b.first, b.cols, positions_);
    }
  }

  const ConvPlan& p_;
  const ConvShape& s_;
  const ConvOperands& o_;
  const Epilogue& e_;
  ConvGeometry g_;
  TileArgs args_ = {};
  bool clip_ = false;
  size_t lanes_ = 0, positions_ = 0;
};

void run_plain(const ConvPlan& plan, const ConvOperands& operands, Parallel& parallel) {
  run_with_scratch<ConvPlain>(plan, operands, parallel);
}

}  // namespace sx::kernels
