// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution on the blocked layout, line by line: it lives on memory, so nothing is gathered.
#include "base/task.h"
#include "kernels/conv_run.h"
#include "kernels/cut.h"

namespace sx::kernels {

class ConvDepthwise {
 public:
  ConvDepthwise(const ConvPlan& plan, const ConvOperands& operands)
      : p_(plan), s_(plan.shape_), o_(operands), e_(operands.epilogue) {
    lanes_ = p_.tiles_->lanes;
    args_.g = conv_geometry(s_);
    args_.alpha = e_.alpha;
    args_.beta = e_.beta;
    args_.bias_scale = e_.bias_scale;
    args_.clip = is_clip(e_, args_.low, args_.high);
    args_.x1 = p_.out_w_;
  }

  void chunk(size_t index) const {
    const size_t rb = index % p_.row_blocks_, rest = index / p_.row_blocks_;
    const size_t group = rest % p_.column_groups_, image = rest / p_.column_groups_;
    const size_t end = std::min(p_.panels_, (group + 1) * p_.group_panels_);
    const size_t y0 = cut(p_.out_h_, p_.row_blocks_, rb), y1 = cut(p_.out_h_, p_.row_blocks_, rb + 1);
    for (size_t b = group * p_.group_panels_; b < end && !stop_requested(); ++b)
      for (size_t y = y0; y < y1; ++y) line(image, b, y);
  }

 private:
  void line(size_t image, size_t b, size_t y) const {
    const size_t plane = image * p_.panels_ + b, channel = b * lanes_;
    const size_t at = (plane * p_.out_h_ + y) * p_.out_w_ * lanes_;
    ConvDepthwiseLine a = args_;
    a.input = o_.input + plane * s_.in_h * s_.in_w * lanes_;
    a.weights = o_.packed + b * s_.kernel_h * s_.kernel_w * lanes_;
    a.bias = e_.bias ? e_.bias + channel : nullptr;
    a.residual = e_.residual ? e_.residual + at : nullptr;
    a.output = o_.output + at;
    a.y = y;
    a.channels = std::min(lanes_, s_.in_channels - channel);
    p_.table_.depthwise(&a);
    const bool whole = a.channels == lanes_;
    if (!a.clip && e_.activation != Activation::none)
      p_.activate_(e_.activation, e_.low, e_.high, a.output, whole ? 1 : p_.out_w_,
                   whole ? p_.out_w_ * lanes_ : a.channels, lanes_);
    if (e_.post)
      e_.post(e_.post_context, a.output, image, y * p_.out_w_, p_.out_w_, channel, a.channels, lanes_);
  }

  const ConvPlan& p_;
  const ConvShape& s_;
  const ConvOperands& o_;
  const Epilogue& e_;
  ConvDepthwiseLine args_ = {};
  size_t lanes_ = 0;
};

void run_depthwise(const ConvPlan& plan, const ConvOperands& operands, Parallel& parallel) {
  const ConvDepthwise run(plan, operands);
  run_chunks(plan.chunks(), parallel, [&](size_t chunk, size_t) { run.chunk(chunk); });
}

}  // namespace sx::kernels
