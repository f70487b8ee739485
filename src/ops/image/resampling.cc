// SPDX-License-Identifier: Apache-2.0
#include "ops/image/resampling.h"

#include <algorithm>
#include <cmath>

#include "base/workspace.h"
#include "ops/common/quant.h"
#include "ops/common/whole.h"
#include "ops/engine/codec.h"
#include "ops/engine/move.h"

namespace sx::ops {
namespace {

// Where output position x lies among the inputs.
Result<double> source_of(const ResizeAxis& a, std::string_view mode, int64_t x) {
  const double at = double(x), in = double(a.in);
  // The length that the scale gives, which need not be whole: the standard's cases are computed with it.
  const double out = a.scale * in;
  if (mode == "half_pixel") return (at + 0.5) / a.scale - 0.5;
  if (mode == "pytorch_half_pixel") return a.out > 1 ? (at + 0.5) / a.scale - 0.5 : 0.0;
  if (mode == "align_corners") return a.out > 1 ? at * (in - 1) / (out - 1) : 0.0;
  if (mode == "asymmetric") return at / a.scale;
  if (mode == "tf_half_pixel_for_nn") return (at + 0.5) / a.scale;
  if (mode == "half_pixel_symmetric") {
    const double adjustment = double(a.out) / out;
    return in / 2 * (1 - adjustment) + (at + 0.5) / a.scale - 0.5;
  }
  if (mode == "tf_crop_and_resize") {
    if (a.out == 1) return 0.5 * (a.start + a.end) * (in - 1);
    return a.start * (in - 1) + at * (a.end - a.start) * (in - 1) / (out - 1);
  }
  return error(Code::invalid_model, "coordinate_transformation_mode '{}' is unknown", mode);
}

Result<int64_t> nearest(double x, std::string_view mode, double scale) {
  if (mode == "ceil_where_smaller") mode = scale < 1 ? "ceil" : "floor";
  if (mode == "round_prefer_floor") return int64_t(std::ceil(x - 0.5));
  if (mode == "round_prefer_ceil") return int64_t(std::floor(x + 0.5));
  if (mode == "floor") return int64_t(std::floor(x));
  if (mode == "ceil") return int64_t(std::ceil(x));
  return error(Code::invalid_model, "nearest_mode '{}' is unknown", mode);
}

double linear_weight(double distance) { return std::max(0.0, 1 - std::abs(distance)); }

double cubic_weight(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// A smaller scale widens the filter where antialiasing is asked for.
double shrink_of(const ResizeRule& rule, double scale) { return rule.antialias ? std::min(scale, 1.0) : 1.0; }
double reach_of(const ResizeRule& rule, double scale) {
  return (rule.mode == "cubic" ? 2 : 1) / shrink_of(rule, scale);
}

// Inputs within the filter's reach of x.
void add_taps(AxisPlan& plan, const ResizeRule& rule, double x, double scale) {
  const double shrink = shrink_of(rule, scale), reach = reach_of(rule, scale);
  const int64_t base = int64_t(std::floor(x));
  const int64_t first = base + int64_t(std::floor(-reach)) + 1, last = base + int64_t(std::ceil(reach));
  Taps taps{plan.index.size(), 0};
  double sum = 0;
  for (int64_t tap : turns(last - first + 1)) {
    const int64_t k = first + tap;
    const double distance = (double(k) - x) * shrink;
    double w = rule.mode == "cubic" ? cubic_weight(distance, rule.cubic) : linear_weight(distance);
    if (rule.exclude_outside && (k < 0 || k >= plan.in)) w = 0;
    plan.index.push_back(std::clamp<int64_t>(k, 0, plan.in - 1));
    plan.weight.push_back(w);
    sum += w;
    ++taps.count;
  }
  if (rule.exclude_outside || rule.antialias) {
    for (size_t k : turns(taps.count)) plan.weight[taps.first + k] /= sum;
  }
  plan.taps.push_back(taps);
}

}  // namespace

Result<AxisPlan> plan_axis(const ResizeAxis& axis, const ResizeRule& rule) {
  AxisPlan plan;
  plan.in = axis.in;
  plan.out = axis.out;
  const bool crop = rule.coordinates == "tf_crop_and_resize";
  plan.identity = axis.in == axis.out && axis.scale == 1 && (!crop || (axis.start == 0 && axis.end == 1));
  if (plan.identity) return plan;
  if (axis.in == 0 && axis.out > 0)
    return error(Code::invalid_argument, "an empty axis cannot be resized to {}", axis.out);
  if (axis.out <= 0) return plan;
  const size_t each = rule.mode == "nearest" ? 1 : 2 * size_t(std::ceil(reach_of(rule, axis.scale)));
  plan.taps.reserve(size_t(axis.out));
  plan.index.reserve(size_t(axis.out) * each);
  plan.weight.reserve(size_t(axis.out) * each);
  for (int64_t o : turns(axis.out, each)) {
    SX_ASSIGN(const double x, source_of(axis, rule.coordinates, o));
    if (crop && !(x >= 0 && x <= double(axis.in - 1))) {
      plan.taps.push_back({plan.index.size(), 0});
    } else if (rule.mode == "nearest") {
      SX_ASSIGN(const int64_t at, nearest(x, rule.nearest, axis.scale));
      plan.taps.push_back({plan.index.size(), 1});
      plan.index.push_back(std::clamp<int64_t>(at, 0, axis.in - 1));
      plan.weight.push_back(1);
    } else {
      add_taps(plan, rule, x, axis.scale);
    }
  }
  SX_TRY(check_stop());
  return plan;
}

Result<std::vector<ResizeAxis>> resize_axes(std::span<const int64_t> dims, const Attrs& attrs,
                                            const ResizeInputs& inputs) {
  const int64_t rank = int64_t(dims.size());
  std::vector<int64_t> axes = attrs.integers("axes");
  if (axes.empty()) {
    for (int64_t k = 0; k < rank; ++k) axes.push_back(k);
  }
  const size_t n = axes.size();
  const size_t given = inputs.scales.empty() ? inputs.sizes.size() : inputs.scales.size();
  if (given != n) return error(Code::invalid_argument, "{} scales or sizes for {} axes", given, n);
  if (!inputs.roi.empty() && inputs.roi.size() != 2 * n) {
    return error(Code::invalid_argument, "roi has {} numbers, expected {}", inputs.roi.size(), 2 * n);
  }
  std::vector<ResizeAxis> list(dims.size());
  std::vector<bool> named(dims.size(), false);
  for (size_t k = 0; k < dims.size(); ++k) list[k].in = list[k].out = dims[k];
  const std::string policy = attrs.text("keep_aspect_ratio_policy", "stretch");
  double common = policy == "not_smaller" ? 0 : HUGE_VAL;
  for (size_t k = 0; k < n; ++k) {
    const int64_t at = axes[k] < 0 ? axes[k] + rank : axes[k];
    if (at < 0 || at >= rank)
      return error(Code::invalid_argument, "axis {} is outside rank {}", axes[k], rank);
    if (named[size_t(at)]) return error(Code::invalid_argument, "axis {} is given twice", axes[k]);
    named[size_t(at)] = true;
    ResizeAxis& a = list[size_t(at)];
    const bool by_size = inputs.scales.empty();
    a.scale = !by_size ? inputs.scales[k] : a.in > 0 ? double(inputs.sizes[k]) / double(a.in) : 1;
    if (!(a.scale >= 0 && double(a.in) * a.scale < 1e15) || (!by_size && a.scale == 0)) {
      return error(Code::invalid_argument, "axis {} of {} elements cannot be scaled by {}", at, a.in,
                   a.scale);
    }
    a.out = by_size ? inputs.sizes[k] : int64_t(std::floor(double(a.in) * a.scale));
    if (!inputs.roi.empty()) a.start = inputs.roi[k], a.end = inputs.roi[n + k];
    common = policy == "not_smaller" ? std::max(common, a.scale) : std::min(common, a.scale);
  }
  if (!inputs.scales.empty() || policy == "stretch") return list;
  for (int64_t axis : axes) {
    ResizeAxis& a = list[size_t(axis < 0 ? axis + rank : axis)];
    a.scale = common;
    a.out = int64_t(std::floor(double(a.in) * common + 0.5));
  }
  return list;
}

namespace {

std::vector<double> numbers(const Tensor* t) {
  if (!t || !t->count()) return {};
  const Reader<double> list(*t);
  return {list.begin(), list.end()};
}

// floor(size · scale) for a size that may be a symbol; only where it is certain.
Dim scaled(Infer& i, Dim size, double scale) {
  if (size.is_constant()) return int64_t(std::floor(double(size.constant()) * scale));
  if (scale >= 1 && scale == std::floor(scale) && scale < 1e9) return size * Dim(int64_t(scale));
  if (scale > 0 && 1 / scale == std::floor(1 / scale) && scale == 1 / std::floor(1 / scale)) {
    return floordiv(size, Dim(int64_t(1 / scale)));
  }
  return i.fresh("resized");
}

}  // namespace

Status infer_resize(Infer& i) {
  if (!i.rank_known(0)) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  std::vector<Dim> dims = i.dims(0);
  std::vector<int64_t> axes = i.integers("axes");
  if (axes.empty()) {
    for (size_t k = 0; k < dims.size(); ++k) axes.push_back(int64_t(k));
  }
  const bool by_scale = i.has(2) && !(i.rank_known(2) && i.rank(2) == 1 && i.dim(2, 0).is_constant(0));
  const Tensor* scales = by_scale ? i.constant(2) : nullptr;
  const std::vector<Dim>* sizes = i.has(3) ? i.elements(3) : nullptr;
  const bool stretch = i.attrs().text("keep_aspect_ratio_policy", "stretch") == "stretch";
  std::vector<int64_t> fixed;
  bool constant = i.in(0).shape.is_constant() && (scales || i.constant_ints(3, fixed));
  if (constant) {
    Dims known;
    for (Dim d : dims) known.push_back(d.constant());
    SX_ASSIGN(const std::vector<ResizeAxis> plan,
              resize_axes(known, i.attrs(), {numbers(scales), fixed, {}}));
    for (size_t k = 0; k < dims.size(); ++k) dims[k] = plan[k].out;
  }
  const std::vector<double> factors = numbers(scales);
  for (size_t k = 0; k < axes.size() && !constant; ++k) {
    SX_ASSIGN(const size_t axis, i.axis(axes[k], dims.size()));
    if (k < factors.size()) {
      dims[axis] = scaled(i, dims[axis], factors[k]);
    } else if (!by_scale && sizes && stretch && k < sizes->size()) {
      dims[axis] = (*sizes)[k];
    } else {
      dims[axis] = i.fresh("resized");
    }
  }
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

namespace {

// Nearest: every output element is one input element, so any type will do.
Status move_nearest(Eval& e, const std::vector<AxisPlan>& plans) {
  const Tensor& x = e.in(0);
  const Dims strides = contiguous_strides(x.dims());
  Tensor& y = e.out(0);
  SX_ASSIGN(Tensor outside, Tensor::zeros(x.type(), {1}));
  if (x.type() != DType::string && !dtype_is_complex(x.type())) {
    const double value = e.floating("extrapolation_value");
    encode<double>(&value, 1, x.type(), outside.mutable_data(), 0, 1);
  }
  Odometer at(y.dims());
  move_each(
      x, y,
      [&](int64_t) {
        int64_t from = 0;
        for (size_t d = 0; d < plans.size() && from >= 0; ++d) {
          const size_t o = size_t(at.at()[d]);
          if (plans[d].identity) {
            from += int64_t(o) * strides[d];
          } else if (plans[d].taps[o].count == 0) {
            from = -1;
          } else {
            from += plans[d].index[plans[d].taps[o].first] * strides[d];
          }
        }
        at.next();
        return from;
      },
      &outside);
  return {};
}

// One axis of [outer, in, inner] at a time; positions outside are marked with NaN and replaced at the end.
Workspace<double> resample(const double* x, const AxisPlan& plan, int64_t outer, int64_t inner,
                           double outside) {
  Workspace<double> y(size_t(outer * plan.out * inner));
  StopCheck<65536> stop;
  for (int64_t o = 0; o < outer && !stop(); ++o) {
    for (int64_t p = 0; p < plan.out && !stop(size_t(inner)); ++p) {
      const Taps& taps = plan.taps[size_t(p)];
      double* to = y.data() + (o * plan.out + p) * inner;
      for (int64_t k : turns(inner)) to[k] = taps.count ? 0 : outside;
      for (size_t t = taps.first; t < taps.first + taps.count && !stop(size_t(inner)); ++t) {
        const double* from = x + (o * plan.in + plan.index[t]) * inner;
        for (int64_t k : turns(inner)) to[k] += plan.weight[t] * from[k];
      }
    }
  }
  return y;
}

// Elements whose position is outside along any axis take the extrapolation value, whatever the other axes
// made.
void extrapolate(Workspace<double>& y, std::span<const int64_t> dims, const std::vector<AxisPlan>& plans,
                 double value) {
  Odometer at(dims);
  StopCheck<> stop;
  for (double& v : y) {
    if (stop()) return;
    for (size_t d = 0; d < plans.size(); ++d) {
      if (plans[d].identity || plans[d].taps[size_t(at.at()[d])].count != 0) continue;
      const bool imaginary = dims.size() > plans.size() && at.at()[plans.size()] == 1;
      v = imaginary ? 0 : value;
    }
    at.next();
  }
}

// A complex number is two numbers along one more axis.
template <class T>
void interpolate(Eval& e, const ResizeRule& rule, const std::vector<AxisPlan>& plans) {
  const Tensor& x = e.in(0);
  constexpr size_t kParts = sizeof(T) / sizeof(double);
  const Reader<T> in(x);
  const auto* from = reinterpret_cast<const double*>(in.data());
  Workspace<double> y;
  Dims now = x.dims();
  if (kParts > 1) now.push_back(kParts);
  for (size_t d = 0; d < plans.size(); ++d) {
    if (plans[d].identity) continue;
    const int64_t outer = product(std::span(now.begin(), d)),
                  inner = product(std::span(now.begin() + d + 1, now.size() - d - 1));
    y = resample(from, plans[d], outer, inner, 0);
    from = y.data();
    now[d] = plans[d].out;
  }
  if (rule.coordinates == "tf_crop_and_resize") extrapolate(y, now, plans, e.floating("extrapolation_value"));
  if (dtype_is_integer(x.type())) {
    StopCheck<> stop;
    for (double& v : y) {
      if (stop()) return;
      v = rule.antialias ? quantised(v, 0, x.type()) : whole_part(v);
    }
  }
  Tensor& out = e.out(0);
  encode<T>(reinterpret_cast<const T*>(from), size_t(out.count()), out.type(), out.mutable_data(), 0, 1);
}

}  // namespace

Status eval_resize(Eval& e) {
  const Tensor& x = e.in(0);
  ResizeInputs inputs;
  ResizeRule rule{e.text("coordinate_transformation_mode"),
                  e.text("mode"),
                  e.text("nearest_mode"),
                  e.floating("cubic_coeff_a"),
                  e.integer("exclude_outside") != 0,
                  e.attrs().integer("antialias", 0) != 0};
  if (rule.mode != "nearest" && rule.mode != "linear" && rule.mode != "cubic") {
    return e.fail("mode '{}' is not nearest, linear or cubic", rule.mode);
  }
  inputs.scales = numbers(e.has(2) ? &e.in(2) : nullptr);
  if (!inputs.scales.empty() && e.has(3) && e.in(3).count() != 0)
    return e.fail("both scales and sizes are given, expected one of them");
  if (inputs.scales.empty() && e.has(3)) {
    SX_ASSIGN(inputs.sizes, e.ints_of(3));
  }
  if (rule.coordinates == "tf_crop_and_resize" && e.has(1)) inputs.roi = numbers(&e.in(1));
  SX_ASSIGN(const std::vector<ResizeAxis> axes, resize_axes(x.dims(), e.attrs(), inputs));
  std::vector<AxisPlan> plans;
  Dims dims;
  for (const ResizeAxis& a : axes) {
    SX_ASSIGN(AxisPlan plan, plan_axis(a, rule));
    dims.push_back(a.out);
    plans.push_back(std::move(plan));
  }
  SX_TRY(e.allocate(0, x.type(), dims));
  if (e.out(0).count() == 0) return {};
  if (rule.mode == "nearest") return move_nearest(e, plans);
  if (x.type() == DType::string) return e.fail("strings can only be resized with mode nearest");
  if (dtype_is_complex(x.type()))
    interpolate<complex128>(e, rule, plans);
  else
    interpolate<double>(e, rule, plans);
  return {};
}

}  // namespace sx::ops
