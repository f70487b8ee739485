// SPDX-License-Identifier: Apache-2.0
// Window: how a convolution or a pool steps along one spatial axis, from attributes that inference has agreed
// to. Numbers that would not be sizes are refused all the same: they come from a file.
#pragma once
#include <span>
#include <vector>

#include "base/format.h"
#include "graph/attrs.h"

namespace sx::cpu {

struct Window {
  size_t size = 1, kernel = 1, stride = 1, dilation = 1, begin = 0, end = 0;
};

// `sizes` and `kernel`: of the spatial axes, in order.
inline Result<std::vector<Window>> windows_of(const Attrs& attrs, std::span<const int64_t> sizes,
                                              std::span<const int64_t> kernel) {
  constexpr int64_t kMost = int64_t(1) << 40;
  const auto strides = attrs.integers("strides"), dilations = attrs.integers("dilations"),
             pads = attrs.integers("pads");
  const std::string auto_pad = attrs.text("auto_pad", "NOTSET");
  const size_t axes = sizes.size();
  Status status;
  auto take = [&](const char* what, std::span<const int64_t> list, size_t k, int64_t least, size_t& to) {
    if (k >= list.size()) return;
    if (list[k] < least || list[k] > kMost)
      status = error(Code::invalid_argument, "{} is {}, expected {} or more", what, list[k], least);
    to = size_t(list[k]);
  };
  std::vector<Window> windows(axes);
  for (size_t k = 0; k < axes; ++k) {
    Window& w = windows[k];
    take("a spatial axis", sizes, k, 0, w.size);
    take("the kernel", kernel, k, 1, w.kernel);
    take("a stride", strides, k, 1, w.stride);
    take("a dilation", dilations, k, 1, w.dilation);
    if ((auto_pad == "NOTSET" || auto_pad.empty()) && pads.size() == 2 * axes) {
      take("a pad", pads, k, 0, w.begin);
      take("a pad", pads, axes + k, 0, w.end);
    }
    if (!status.ok()) return status;
    if (!auto_pad.starts_with("SAME") || w.size == 0) continue;
    const size_t out = (w.size + w.stride - 1) / w.stride;
    const size_t reach = (out - 1) * w.stride + w.dilation * (w.kernel - 1) + 1;
    const size_t total = reach > w.size ? reach - w.size : 0;
    w.begin = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.end = total - w.begin;
  }
  return windows;
}

}  // namespace sx::cpu
