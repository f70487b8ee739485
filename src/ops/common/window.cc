// SPDX-License-Identifier: Apache-2.0
#include "ops/common/window.h"

#include <algorithm>

namespace sx::ops {
namespace {

Status check_length(std::string_view name, const std::vector<int64_t>& v, size_t expected) {
  if (v.empty() || v.size() == expected) return {};
  return error(Code::invalid_model, "{} has {} numbers, {} expected", name, v.size(), expected);
}

Result<Window::Auto> auto_pad(const std::string& text) {
  if (text == "NOTSET" || text.empty()) return Window::Auto::none;
  if (text == "VALID") return Window::Auto::valid;
  if (text == "SAME_UPPER") return Window::Auto::same_upper;
  if (text == "SAME_LOWER") return Window::Auto::same_lower;
  return error(Code::invalid_model, "auto_pad is '{}', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER",
               text);
}

// Small enough that no size computed from them overflows.
constexpr int64_t kMostReach = int64_t(1) << 40;

Status check_axis(const Window::Axis& a, size_t k) {
  if (a.kernel < 1 || a.stride < 1 || a.dilation < 1) {
    return error(Code::invalid_model,
                 "spatial axis {}: kernel {}, stride {} and dilation {}, at least 1 expected", k, a.kernel,
                 a.stride, a.dilation);
  }
  if (std::min(a.begin, a.end) < 0) {
    return error(Code::invalid_model, "spatial axis {}: padding {} and {}, at least 0 expected", k, a.begin,
                 a.end);
  }
  if (a.kernel > kMostReach || a.stride > kMostReach || a.dilation > kMostReach / a.kernel ||
      std::max(a.begin, a.end) > kMostReach) {
    return error(Code::invalid_model,
                 "spatial axis {}: kernel {}, stride {}, dilation {}, padding {} and {} are too large", k,
                 a.kernel, a.stride, a.dilation, a.begin, a.end);
  }
  return {};
}

}  // namespace

Result<Window> Window::of(const Attrs& attrs, std::span<const int64_t> kernel) {
  Window w;
  const size_t n = kernel.size();
  const auto strides = attrs.integers("strides"), dilations = attrs.integers("dilations"),
             pads = attrs.integers("pads");
  SX_TRY(check_length("strides", strides, n));
  SX_TRY(check_length("dilations", dilations, n));
  SX_TRY(check_length("pads", pads, 2 * n));
  SX_ASSIGN(w.automatic, auto_pad(attrs.text("auto_pad", "NOTSET")));
  w.ceil = attrs.integer("ceil_mode", 0) != 0;
  int64_t taps = 1;
  for (size_t k = 0; k < n; ++k) {
    Axis a{.kernel = kernel[k]};
    if (!strides.empty()) a.stride = strides[k];
    if (!dilations.empty()) a.dilation = dilations[k];
    if (!pads.empty()) a.begin = pads[k], a.end = pads[n + k];
    SX_TRY(check_axis(a, k));
    if (taps > kMostReach / a.kernel)
      return error(Code::invalid_model, "the kernel {} is too large", to_string(kernel));
    taps *= a.kernel;
    if (w.automatic != Auto::none) a.begin = a.end = 0;  // pads are checked, but do not count
    w.axes.push_back(a);
  }
  return w;
}

Result<Window> Window::of_pool(const Attrs& attrs) {
  SX_ASSIGN(Window w, of(attrs, attrs.integers("kernel_shape")));
  for (size_t k = 0; k < w.axes.size(); ++k) {
    const Axis& a = w.axes[k];
    if (std::max(a.begin, a.end) < a.reach()) continue;
    return error(Code::invalid_model, "spatial axis {}: padding {} and {} of a kernel that reaches over {}",
                 k, a.begin, a.end, a.reach());
  }
  return w;
}

Dim Window::formula(size_t k, Dim in) const {
  const Axis& a = axes[k];
  if (automatic == Auto::same_upper || automatic == Auto::same_lower) return ceildiv(in, a.stride);
  const Dim room = in + Dim(a.begin + a.end - a.reach());
  if (!ceil) return floordiv(room, a.stride) + 1;
  // A window that would start behind the input, in the padding, is dropped.
  return sx::min(ceildiv(room, a.stride) + 1, ceildiv(in + Dim(a.begin), a.stride));
}

Result<Dim> Window::out(size_t k, Dim in) const {
  const Dim size = formula(k, in);
  if (!in.is_constant() || !size.is_constant()) return size;
  if (size.constant() < 0 || (size.constant() == 0 && in.constant() > 0)) {
    return error(Code::invalid_argument, "spatial axis {} of size {} is smaller than the kernel's reach {}",
                 k, in.constant(), axes[k].reach());
  }
  return size;
}

Status Window::resolve(std::span<const int64_t> in, Dims& sizes) {
  sizes.resize(axes.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    Axis& a = axes[k];
    SX_ASSIGN(const Dim size, out(k, in[k]));
    sizes[k] = size.constant();
    if (automatic == Auto::same_upper || automatic == Auto::same_lower) {
      const int64_t total = std::max<int64_t>(0, (sizes[k] - 1) * a.stride + a.reach() - in[k]);
      a.begin = automatic == Auto::same_upper ? total / 2 : total - total / 2;
      a.end = total - a.begin;
    }
  }
  return {};
}

void find_taps(const Window& w, std::span<const int64_t> in, std::span<const int64_t> at,
               Workspace<int64_t>& taps) {
  int64_t most = 1;
  for (size_t a = 0; a < w.axes.size(); ++a) most *= std::min(w.axes[a].kernel, in[a]);
  taps.clear();
  taps.reserve(size_t(most));
  for_each_tap(w, in, at, [&](int64_t offset, int64_t) { taps.push_back(offset); });
}

bool next_index(std::span<const int64_t> dims, Dims& at) {
  for (size_t a = dims.size(); a-- > 0;) {
    if (++at[a] < dims[a]) return true;
    at[a] = 0;
  }
  return false;
}

Status infer_pool(Infer& i) {
  const auto kernel = i.integers("kernel_shape");
  SX_ASSIGN(const Window w, Window::of_pool(i.attrs()));
  for (size_t o = 0; o < i.outputs(); ++o) {
    const DType elem = o == 0 ? i.elem(0) : DType::i64;
    if (!i.rank_known(0)) {
      i.set_ranked(o, elem, kernel.size() + 2);
      continue;
    }
    if (i.rank(0) != kernel.size() + 2) {
      return i.fail("X has rank {}, kernel_shape has {} numbers: rank {} expected", i.rank(0), kernel.size(),
                    kernel.size() + 2);
    }
    std::vector<Dim> dims = {i.dim(0, 0), i.dim(0, 1)};
    for (size_t k = 0; k < kernel.size(); ++k) {
      SX_ASSIGN(const Dim size, w.out(k, i.dim(0, k + 2)));
      dims.push_back(size);
    }
    i.set_tensor(o, elem, Shape(std::move(dims)));
  }
  return {};
}

}  // namespace sx::ops
