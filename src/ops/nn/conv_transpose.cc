// SPDX-License-Identifier: Apache-2.0
// ConvTranspose: the adjoint of a convolution: each input element spreads its kernel over the output.
#include "base/workspace.h"
#include "graph/op.h"
#include "ops/common/conv.h"
#include "ops/engine/contract.h"

namespace sx::ops::conv_transpose {

// What the attributes say of one spatial axis besides the window.
struct Extra {
  std::vector<int64_t> padding, shape;  // output_padding, output_shape; empty where not given
};

constexpr int64_t kMostExtra = int64_t(1) << 40;  // as for the window, so that sums do not overflow

static Result<Extra> extra_of(const Attrs& attrs, size_t axes) {
  Extra x{attrs.integers("output_padding"), attrs.integers("output_shape")};
  if (x.shape.size() == axes + 2)
    x.shape.erase(x.shape.begin(), x.shape.begin() + 2);  // old exporters wrote N and C
  if ((!x.padding.empty() && x.padding.size() != axes) || (!x.shape.empty() && x.shape.size() != axes)) {
    return error(Code::invalid_model, "output_padding has {} numbers and output_shape {}, {} expected",
                 x.padding.size(), x.shape.size(), axes);
  }
  for (const auto* list : {&x.padding, &x.shape}) {
    for (int64_t n : *list) {
      if (n < 0 || n > kMostExtra) {
        return error(Code::invalid_model, "{} has {}, at least 0 expected",
                     list == &x.shape ? "output_shape" : "output_padding", n);
      }
    }
  }
  return x;
}

// The size before padding is taken away.
static Dim full_size(const Window& w, const Extra& x, size_t k, Dim in) {
  const auto& a = w.axes[k];
  return Dim(a.stride) * (in - 1) + Dim((x.padding.empty() ? 0 : x.padding[k]) + a.reach());
}

static Dim out_size(const Window& w, const Extra& x, size_t k, Dim in) {
  if (!x.shape.empty()) return x.shape[k];
  const auto& a = w.axes[k];
  const bool same = w.automatic == Window::Auto::same_upper || w.automatic == Window::Auto::same_lower;
  // Padding only takes away: a kernel shorter than its stride cannot fill the last step.
  const bool short_kernel = a.reach() + (x.padding.empty() ? 0 : x.padding[k]) < a.stride;
  if (same && !short_kernel) return in * Dim(a.stride);
  return full_size(w, x, k, in) - Dim(a.begin + a.end);
}

static Status infer(Infer& i) {
  i.set_unknown_shape(0, i.elem(0));
  if (!i.rank_known(0) || !i.rank_known(1)) return {};
  const size_t rank = i.rank(0);
  if (rank < 3 || i.rank(1) != rank) return i.fail("X has rank {}, W has rank {}", rank, i.rank(1));
  SX_TRY(i.require_equal(i.dim(0, 1), i.dim(1, 0), "the channels of X and of W"));
  const int64_t group = i.integer("group");
  if (group < 1 || group > INT32_MAX) return i.fail("group is {}, at least 1 expected", group);
  if (i.dim(0, 1).is_constant() && i.dim(0, 1).constant() % group != 0)
    return i.fail("{} channels do not divide into {} groups", i.dim(0, 1).constant(), group);
  SX_ASSIGN(const std::vector<int64_t> kernel, kernel_of(i, 1));
  const bool known = !kernel.empty();
  SX_ASSIGN(const Window w, Window::of(i.attrs(), known ? kernel : std::vector<int64_t>(rank - 2, 1)));
  SX_ASSIGN(const Extra extra, extra_of(i.attrs(), rank - 2));
  std::vector<Dim> dims = {i.dim(0, 0), i.dim(1, 1) * Dim(group)};
  for (size_t k = 0; k + 2 < rank; ++k)
    dims.push_back(known ? out_size(w, extra, k, i.dim(0, k + 2)) : i.fresh("s"));
  if (i.rank_known(2)) {
    if (i.rank(2) != 1) return i.fail("B has rank {}, 1 expected", i.rank(2));
    SX_TRY(i.require_equal(i.dim(2, 0), dims[1], "the length of B and the features"));
  }
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

// Fills in the padding that output_shape or auto_pad means.
static void resolve(Window& w, const Extra& x, std::span<const int64_t> in, Dims& out) {
  for (size_t k = 0; k < w.axes.size(); ++k) {
    out.push_back(out_size(w, x, k, in[k]).constant());
    const bool same = w.automatic == Window::Auto::same_upper || w.automatic == Window::Auto::same_lower;
    if (x.shape.empty() && !same) continue;
    const int64_t total = full_size(w, x, k, in[k]).constant() - out[k];
    const int64_t half = floordiv(total, 2).constant();  // a negative total widens the end first
    w.axes[k].begin = w.automatic == Window::Auto::same_upper ? half : total - half;
  }
}

// columns[M/group · taps, input places] = Wᵀ · X, added into the output where the window over it looks.
template <class T>
static void spread(const Window& w, std::span<const int64_t> in, std::span<const int64_t> out, int64_t planes,
                   const Workspace<T>& columns, T* y) {
  const int64_t places = product(in), plane = product(out);
  const int64_t taps = int64_t(columns.size()) / (planes * places);
  Dims at(in.size(), 0);
  StopCheck<> stop;
  for (int64_t p = 0; p < places && !stop(); ++p, next_index(in, at)) {
    for_each_tap(w, out, at, [&](int64_t offset, int64_t tap) {
      for (int64_t m = 0; m < planes && !stop(); ++m)
        y[m * plane + offset] += columns[size_t((m * taps + tap) * places + p)];
    });
  }
}

static Status eval(Eval& e) {
  const Dims &x = e.in(0).dims(), &k = e.in(1).dims();
  const auto in = std::span<const int64_t>(x).subspan(2);
  SX_ASSIGN(Window w, Window::of(e.attrs(), std::span<const int64_t>(k).subspan(2)));
  SX_ASSIGN(const Extra extra, extra_of(e.attrs(), in.size()));
  Dims out;
  resolve(w, extra, in, out);
  const int64_t group = e.integer("group"), channels = x[1] / group, features = k[1];
  const int64_t places = product(in), taps = product(std::span<const int64_t>(k).subspan(2)),
                plane = product(out);
  return with_class<kFloatClasses>(e, e.in(0).type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> from(e.in(0)), weight(e.in(1));
    Writer<T> y(e.out(0));
    y.fill(0);
    if (e.has(2)) {
      const Reader<T> bias(e.in(2));
      for (size_t j : turns(y.size())) y[j] = bias[j / size_t(plane) % size_t(features * group)];
    }
    Workspace<T> columns(size_t(features * taps * places));
    for (int64_t g = 0; g < x[0] * group && !columns.empty() && !stop_requested(); ++g) {
      contract(Product<T>{.m = features * taps,
                          .n = places,
                          .k = channels,
                          .a = weight.data() + g % group * channels * features * taps,
                          .a_row = 1,
                          .a_col = features * taps,
                          .b = from.data() + g * channels * places,
                          .b_row = places,
                          .b_col = 1,
                          .c = columns.data(),
                          .c_row = places,
                          .c_col = 1});
      spread(w, in, out, features, columns, y.data() + g * features * plane);
    }
    return {};
  });
}

extern const Op op = {
    .name = "ConvTranspose",
    .in = {{"X", "T"}, {"W", "T"}, {"B", "T", kOptional}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {kAutoPad, kDilations, attr_int("group", 1), optional_attr("kernel_shape", AttrKind::integers),
              optional_attr("output_padding", AttrKind::integers),
              optional_attr("output_shape", AttrKind::integers), kPads, kStrides},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 22}, {.since = 11, .types = {{"T", kOldFloats}}}, {.since = 1}},
};

}  // namespace sx::ops::conv_transpose
