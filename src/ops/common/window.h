// SPDX-License-Identifier: Apache-2.0
// Window: how a kernel slides over the spatial axes of [N, C, spatial…]: convolution and pooling alike.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/workspace.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "tensor/dims.h"

namespace sx::ops {

inline constexpr AttrDef kAutoPad = attr_text("auto_pad", "NOTSET");
inline constexpr AttrDef kDilations = optional_attr("dilations", AttrKind::integers);
inline constexpr AttrDef kPads = optional_attr("pads", AttrKind::integers);
inline constexpr AttrDef kStrides = optional_attr("strides", AttrKind::integers);

struct Window {
  struct Axis {
    int64_t kernel = 1, stride = 1, dilation = 1, begin = 0, end = 0;  // begin, end: padding
    int64_t reach() const { return (kernel - 1) * dilation + 1; }
  };
  enum class Auto : uint8_t { none, valid, same_upper, same_lower };
  std::vector<Axis> axes;
  Auto automatic = Auto::none;
  bool ceil = false;

  // From a node's attributes; `kernel` is kernel_shape or, for convolutions, the weight's spatial sizes.
  static Result<Window> of(const Attrs& attrs, std::span<const int64_t> kernel);
  // The same of a pooling operator, whose padding must be shorter than its kernel.
  static Result<Window> of_pool(const Attrs& attrs);
  // The size of spatial axis `k` after sliding over `in`; an error where the kernel does not fit into it.
  Result<Dim> out(size_t k, Dim in) const;
  // The same for concrete sizes; fills in the padding that auto_pad means.
  Status resolve(std::span<const int64_t> in, Dims& out);

 private:
  Dim formula(size_t k, Dim in) const;
};

// Calls f(offset in the input, number of the kernel position) for each position inside the input, for output
// `at`. Offsets are in elements of one channel's plane.
template <class F>
void for_each_tap(const Window& w, std::span<const int64_t> in, std::span<const int64_t> at, F f) {
  const size_t n = w.axes.size();
  Dims first(n, 0), behind(n, 0);  // the positions of each axis that fall inside
  for (size_t a = 0; a < n; ++a) {
    const Window::Axis& axis = w.axes[a];
    const int64_t start = at[a] * axis.stride - axis.begin, round_up = axis.dilation - 1;
    first[a] = start < 0 ? (-start + round_up) / axis.dilation : 0;
    behind[a] = start < in[a] ? std::min(axis.kernel, (in[a] - start + round_up) / axis.dilation) : 0;
    if (first[a] >= behind[a]) return;
  }
  Dims tap = first;
  StopCheck<> stop;
  while (!stop()) {
    int64_t offset = 0, position = 0;
    for (size_t a = 0; a < n; ++a) {
      const Window::Axis& axis = w.axes[a];
      offset = offset * in[a] + at[a] * axis.stride - axis.begin + tap[a] * axis.dilation;
      position = position * axis.kernel + tap[a];
    }
    f(offset, position);
    size_t a = n;
    while (a-- > 0) {
      if (++tap[a] < behind[a]) break;
      tap[a] = first[a];
    }
    if (a == size_t(-1)) return;
  }
}

// The offsets of for_each_tap.
void find_taps(const Window& w, std::span<const int64_t> in, std::span<const int64_t> at,
               Workspace<int64_t>& taps);

// Steps `at` through the sizes `dims` in row-major order; false after the last.
bool next_index(std::span<const int64_t> dims, Dims& at);

// Pooling: [N, C, spatial…] through the window that the attributes give.
Status infer_pool(Infer& i);

}  // namespace sx::ops
