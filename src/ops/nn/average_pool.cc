// SPDX-License-Identifier: Apache-2.0
// AveragePool: the mean of each window; count_include_pad counts the padding as zeros.
#include <algorithm>

#include "base/workspace.h"
#include "graph/op.h"
#include "ops/common/window.h"
#include "ops/engine/codec.h"

namespace sx::ops::average_pool {

// Kernel positions of the window at `at` that lie in the input or its padding. What ceil_mode adds behind the
// padding is never counted.
static int64_t padded_taps(const Window& w, std::span<const int64_t> in, std::span<const int64_t> at) {
  int64_t count = 1;
  for (size_t a = 0; a < w.axes.size(); ++a) {
    const auto& axis = w.axes[a];
    const int64_t room = in[a] + axis.end - (at[a] * axis.stride - axis.begin);
    count *= std::clamp<int64_t>((room + axis.dilation - 1) / axis.dilation, 0, axis.kernel);
  }
  return count;
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  const auto in = std::span(x.dims()).subspan(2);
  SX_ASSIGN(Window w, Window::of_pool(e.attrs()));
  Dims out;
  SX_TRY(w.resolve(in, out));
  const int64_t planes = x.dims()[0] * x.dims()[1], plane = product(in), places = product(out);
  const bool include = e.integer("count_include_pad") != 0;
  return with_class<kFloatClasses>(e, x.type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> from(x);
    Writer<T> y(e.out(0));
    Dims at(out.size(), 0);
    Workspace<int64_t> taps;
    StopCheck<> stop;
    for (int64_t place = 0; place < places && !stop(); ++place, next_index(out, at)) {
      find_taps(w, in, at, taps);
      const int64_t count = include ? padded_taps(w, in, at) : int64_t(taps.size());
      for (int64_t p = 0; p < planes && !stop(taps.size() + 1); ++p) {
        double sum = 0;
        for (int64_t t : stoppable(taps)) sum += from[size_t(p * plane + t)];
        y[size_t(p * places + place)] = T(sum / double(count));
      }
    }
    return {};
  });
}

constexpr AttrDef kKernel = required_attr("kernel_shape", AttrKind::integers),
                  kCeil = attr_int("ceil_mode", 0), kInclude = attr_int("count_include_pad", 0);

extern const Op op = {
    .name = "AveragePool",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {kAutoPad, kCeil, kInclude, kDilations, kKernel, kPads, kStrides},
    .infer = infer_pool,
    .eval = eval,
    .history = {{.since = 22},
                {.since = 19, .types = {{"T", kOldFloats}}},
                {.since = 11, .attrs = {{kAutoPad, kCeil, kInclude, kKernel, kPads, kStrides}}},
                {.since = 10},
                {.since = 7, .attrs = {{kAutoPad, kInclude, kKernel, kPads, kStrides}}},
                {.since = 1, .attrs = {{kAutoPad, kKernel, kPads, kStrides}}}},
};

}  // namespace sx::ops::average_pool
