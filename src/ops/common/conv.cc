// SPDX-License-Identifier: Apache-2.0
#include "ops/common/conv.h"

#include <algorithm>

#include "base/format.h"
#include "base/workspace.h"
#include "ops/engine/contract.h"

namespace sx::ops {
namespace {

Status check_channels(Infer& i, size_t x, size_t w, int64_t group) {
  if (!i.rank_known(x) || !i.rank_known(w)) return {};
  const Dim has = i.dim(x, 1), expected = i.dim(w, 1) * Dim(group);
  if (has.is_constant() && expected.is_constant() && has != expected) {
    return i.fail(
        "weight expects {} input channels per group and there are {} groups, the input has {} channels",
        to_string(i.dim(w, 1)), group, to_string(has));
  }
  SX_TRY(i.require_equal(has, expected, "the channels of the input and of the weight"));
  const Dim features = i.dim(w, 0);
  if (features.is_constant() && features.constant() % group != 0) {
    return i.fail("{} features do not divide into {} groups", features.constant(), group);
  }
  return {};
}

}  // namespace

Result<std::vector<int64_t>> kernel_of(Infer& i, size_t w) {
  std::vector<int64_t> kernel = i.integers("kernel_shape");
  if (!i.rank_known(w)) return kernel;
  const std::vector<Dim>& dims = i.dims(w);
  if (dims.size() < 3) return i.fail("the weight has rank {}, at least 3 expected", dims.size());
  if (!kernel.empty() && kernel.size() != dims.size() - 2) {
    return i.fail("kernel_shape has {} numbers, the weight has {} spatial axes", kernel.size(),
                  dims.size() - 2);
  }
  for (size_t k = 2; k < dims.size() && !kernel.empty(); ++k) {
    SX_TRY(i.require_equal(dims[k], kernel[k - 2],
                           format("spatial axis {} of the weight and of kernel_shape", k - 2)));
  }
  if (!kernel.empty()) return kernel;
  for (size_t k = 2; k < dims.size(); ++k) {
    if (!dims[k].is_constant()) return std::vector<int64_t>();
    kernel.push_back(dims[k].constant());
  }
  return kernel;
}

std::vector<AttrDef> conv_attrs() {
  return {kAutoPad, kDilations, attr_int("group", 1), optional_attr("kernel_shape", AttrKind::integers),
          kPads,    kStrides};
}

Status infer_conv(Infer& i, size_t x, size_t w, size_t b, DType elem) {
  const int64_t group = i.integer("group");
  if (group < 1 || group > INT32_MAX) return i.fail("group is {}, at least 1 expected", group);
  i.set_unknown_shape(0, elem);
  if (!i.rank_known(x) && !i.rank_known(w)) return {};
  const size_t rank = i.rank_known(x) ? i.rank(x) : i.rank(w);
  if (i.rank_known(x) && i.rank_known(w) && i.rank(x) != i.rank(w)) {
    return i.fail("the input has rank {}, the weight has rank {}", i.rank(x), i.rank(w));
  }
  if (rank < 3) return i.fail("the input has rank {}, at least 3 expected", rank);
  SX_TRY(check_channels(i, x, w, group));
  std::vector<Dim> dims(rank);
  dims[0] = i.rank_known(x) ? i.dim(x, 0) : i.fresh("n");
  dims[1] = i.rank_known(w) ? i.dim(w, 0) : i.fresh("m");
  if (i.rank_known(b) && i.rank(b) != 1) return i.fail("the bias has rank {}, 1 expected", i.rank(b));
  if (i.rank_known(b))
    SX_TRY(i.require_equal(i.dim(b, 0), dims[1], "the length of the bias and the features"));
  SX_ASSIGN(const std::vector<int64_t> kernel, kernel_of(i, w));
  if (!kernel.empty() && kernel.size() != rank - 2)
    return i.fail("kernel_shape has {} numbers, the input has {} spatial axes", kernel.size(), rank - 2);
  const bool known = kernel.size() == rank - 2 && i.rank_known(x);
  SX_ASSIGN(const Window window,
            Window::of(i.attrs(), kernel.empty() ? std::vector<int64_t>(rank - 2, 1) : kernel));
  for (size_t k = 2; k < rank; ++k) {
    if (!known) {
      dims[k] = i.fresh("s");
      continue;
    }
    SX_ASSIGN(dims[k], window.out(k - 2, i.dim(x, k)));
  }
  i.set_tensor(0, elem, Shape(std::move(dims)));
  return {};
}

int64_t Convolution::kernel_size() const {
  int64_t n = 1;
  for (const Window::Axis& a : window.axes) n *= a.kernel;
  return n;
}

Result<Convolution> convolution(const Attrs& attrs, std::span<const int64_t> x, std::span<const int64_t> w) {
  Convolution c;
  SX_ASSIGN(c.window, Window::of(attrs, w.subspan(2)));
  c.group = attrs.integer("group", 1);
  c.batch = x[0], c.channels = x[1], c.features = w[0];
  if (w[1] * c.group != c.channels || c.features % c.group != 0) {
    return error(Code::invalid_argument,
                 "weight {} with {} groups expects {} input channels, the input {} has {}", to_string(w),
                 c.group, w[1] * c.group, to_string(x), x[1]);
  }
  c.in.assign(x.subspan(2));
  SX_TRY(c.window.resolve(c.in, c.out));
  return c;
}

// Patches of a block of output places as columns, times the weight as a matrix.
template <class T>
void convolve(const Convolution& c, const T* x, const T* w, T* y) {
  const int64_t places = product(c.out), plane = product(c.in), taps = c.kernel_size();
  const int64_t channels = c.channels / c.group, features = c.features / c.group, depth = channels * taps;
  const int64_t block = std::clamp<int64_t>((int64_t(1) << 22) / std::max<int64_t>(depth, 1), 16, 512);
  Workspace<int64_t> from(size_t(taps * block));
  Workspace<T> columns(size_t(depth * block));
  StopCheck<65536> stop;
  Dims at(c.out.size(), 0);
  for (int64_t first = 0; first < places && !stop(); first += block) {
    const int64_t n = std::min(block, places - first);
    for (int64_t& offset : stoppable(from)) offset = -1;
    for (int64_t p = 0; p < n && !stop(size_t(taps)); ++p, next_index(c.out, at)) {
      for_each_tap(c.window, c.in, at,
                   [&](int64_t offset, int64_t tap) { from[size_t(tap * block + p)] = offset; });
    }
    if (stop_requested()) return;
    for (int64_t g = 0; g < c.batch * c.group && !stop_requested(); ++g) {
      for (int64_t row = 0; row < depth && !stop(size_t(n)); ++row) {
        const T* channel = x + (g * channels + row / taps) * plane;
        const int64_t* offsets = from.data() + row % taps * block;
        for (int64_t p = 0; p < n; ++p)
          columns[size_t(row * block + p)] = offsets[p] < 0 ? T(0) : channel[offsets[p]];
      }
      contract(Product<T>{.m = features,
                          .n = n,
                          .k = depth,
                          .a = w + g % c.group * features * depth,
                          .a_row = depth,
                          .a_col = 1,
                          .b = columns.data(),
                          .b_row = block,
                          .b_col = 1,
                          .c = y + g * features * places + first,
                          .c_row = places,
                          .c_col = 1});
    }
  }
}
template void convolve(const Convolution&, const float*, const float*, float*);
template void convolve(const Convolution&, const double*, const double*, double*);
template void convolve(const Convolution&, const int32_t*, const int32_t*, int32_t*);

}  // namespace sx::ops
