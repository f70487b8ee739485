// SPDX-License-Identifier: Apache-2.0
// Columns of numbers before and after a model of scikit-learn: Scaler, Imputer, Normalizer, Binarizer,
// FeatureVectorizer.
#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/task.h"
#include "family.h"
#include "graph/op.h"

namespace sx::cpu::columns {
namespace {

std::vector<float> floats_in(const Attrs& attrs, std::string_view name) {
  const auto* list = attrs.get<std::vector<float>>(name);
  return list ? *list : std::vector<float>();
}

bool is_number(const Type& t) {
  return t.is_tensor() &&
         (t.elem == DType::f32 || t.elem == DType::f64 || t.elem == DType::i64 || t.elem == DType::i32);
}

std::string refuse_unless_numbers(const Site& site) {
  for (size_t i = 0; i < site.op().inputs.size(); ++i) {
    if (!is_number(site.in(i))) return format("input {} is {}", i, to_string(site.in(i)));
    if (!site.ranked(i)) return format("the rank of input {} is not known", i);
  }
  return "";
}

// Calls f with the elements as what they are.
template <class F>
auto with_numbers(const View& v, F f) {
  switch (v.type) {
    case DType::f64: return f(v.as<double>());
    case DType::i64: return f(v.as<int64_t>());
    case DType::i32: return f(v.as<int32_t>());
    default: return f(v.as<float>());
  }
}

size_t last_of(const Dims& d) { return d.empty() ? 1 : size_t(d.back()); }

// ---- Scaler: (x - offset) · scale

class ScalerKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<ScalerKernel>();
    kernel->name_ = "scaler";
    kernel->offset_ = floats_in(site.attrs(), "offset");
    kernel->scale_ = floats_in(site.attrs(), "scale");
    if (site.is_f32(0)) kernel->traits_.in_place = {{0, 0}};
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Result<std::unique_ptr<Prepared>> prepare(ViewList in, ViewList, Needs& needs) override {
    needs.scratch = 2 * sizeof(double) * last_of(in[0]->dims);
    return std::unique_ptr<Prepared>();
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext& context) override {
    const size_t cols = last_of(in[0]->dims), count = size_t(in[0]->count());
    if ((offset_.size() > 1 && offset_.size() != cols) || (scale_.size() > 1 && scale_.size() != cols)) {
      return error(Code::invalid_argument, "offset and scale have {} and {} numbers for {} columns",
                   offset_.size(), scale_.size(), cols);
    }
    double* minus = static_cast<double*>(context.scratch);
    double* times = minus + cols;
    for (size_t c = 0; c < cols; ++c) {
      minus[c] = offset_.empty() ? 0 : offset_[offset_.size() == 1 ? 0 : c];
      times[c] = scale_.empty() ? 1 : scale_[scale_.size() == 1 ? 0 : c];
    }
    with_numbers(*in[0], [&](const auto* x) {
      float* y = out[0]->as_mutable<float>();
      StopCheck<65536> stop;
      for (size_t k = 0; k < count && !stop(cols); k += cols) {
        for (size_t c = 0; c < cols; ++c) y[k + c] = float((double(x[k + c]) - minus[c]) * times[c]);
      }
    });
    return {};
  }

 private:
  std::vector<float> offset_, scale_;
};

// ---- Imputer

std::string imputer_refuses(const Site& site) {
  const DType t = site.in(0).elem;
  if (t != DType::f32 && t != DType::i64) return format("X is {}", to_string(site.in(0)));
  if (!site.ranked(0)) return "the rank of X is not known";
  const bool some = t == DType::f32 ? !floats_in(site.attrs(), "imputed_value_floats").empty()
                                    : !site.attrs().integers("imputed_value_int64s").empty();
  return some ? "" : "there is no imputed value";
}

class ImputerKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<ImputerKernel>();
    kernel->name_ = "imputer";
    kernel->floats_ = floats_in(site.attrs(), "imputed_value_floats");
    kernel->ints_ = site.attrs().integers("imputed_value_int64s");
    kernel->float_ = site.attrs().floating("replaced_value_float", 0);
    kernel->int_ = site.attrs().integer("replaced_value_int64", 0);
    kernel->traits_.in_place = {{0, 0}};
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext&) override {
    if (in[0]->type == DType::f32)
      impute<float>(*in[0], *out[0], floats_, float_);
    else
      impute<int64_t>(*in[0], *out[0], ints_, int_);
    return {};
  }

 private:
  template <class T>
  static void impute(const View& in, const View& out, const std::vector<T>& values, T replaced) {
    const size_t cols = last_of(in.dims), count = size_t(in.count());
    const T* x = in.as<T>();
    T* y = out.as_mutable<T>();
    const bool nan = replaced != replaced;
    const size_t step = values.size() == cols ? 1 : 0;  // else the first one is for all
    StopCheck<65536> stop;
    for (size_t k = 0; k < count && !stop(cols); k += cols) {
      const T* v = values.data();
      for (size_t c = 0; c < cols; ++c, v += step) {
        const T e = x[k + c];
        y[k + c] = (nan ? e != e : e == replaced) ? *v : e;
      }
    }
  }
  std::vector<float> floats_;
  std::vector<int64_t> ints_;
  float float_ = 0;
  int64_t int_ = 0;
};

// ---- Normalizer

enum class Norm : uint8_t { max, l1, l2, unknown };

Norm norm_of(const Attrs& attrs) {
  const std::string name = attrs.text("norm", "MAX");
  return name == "MAX" ? Norm::max : name == "L1" ? Norm::l1 : name == "L2" ? Norm::l2 : Norm::unknown;
}

std::string normalizer_refuses(const Site& site) {
  if (std::string why = refuse_unless_f32(site, {0}); !why.empty()) return why;
  return norm_of(site.attrs()) == Norm::unknown ? "the norm is unknown" : "";
}

class NormalizerKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<NormalizerKernel>();
    kernel->name_ = "normalizer";
    kernel->norm_ = norm_of(site.attrs());
    kernel->traits_.in_place = {{0, 0}};
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext&) override {
    const Dims& d = in[0]->dims;
    const size_t rows = d.size() < 2 ? 1 : size_t(d[0]), count = size_t(in[0]->count());
    const size_t cols = rows == 0 ? 0 : count / rows;
    const float* x = in[0]->as<float>();
    float* y = out[0]->as_mutable<float>();
    StopCheck<65536> stop;
    for (size_t r = 0; r < rows && cols > 0 && !stop(cols); ++r, x += cols, y += cols) {
      const double size = size_of(x, cols);
      for (size_t c = 0; c < cols; ++c) y[c] = size == 0 ? x[c] : float(x[c] / size);
    }
    return {};
  }

 private:
  double size_of(const float* x, size_t n) const {
    double size = norm_ == Norm::max ? x[0] : 0;
    for (size_t c = 0; c < n; ++c) {
      const double v = x[c];
      if (norm_ == Norm::max)
        size = v > size || v != v ? v : size;
      else
        size += norm_ == Norm::l1 ? std::abs(v) : v * v;
    }
    return norm_ == Norm::l2 ? std::sqrt(size) : size;
  }
  Norm norm_ = Norm::max;
};

// ---- Binarizer

std::string f32_refuses(const Site& site) { return refuse_unless_f32(site, {0}); }

class BinarizerKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<BinarizerKernel>();
    kernel->name_ = "binarizer";
    kernel->threshold_ = site.attrs().floating("threshold", 0);
    kernel->traits_.in_place = {{0, 0}};
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext&) override {
    const float* x = in[0]->as<float>();
    float* y = out[0]->as_mutable<float>();
    StopCheck<65536> stop;
    for (size_t k = 0, n = size_t(in[0]->count()); k < n && !stop(); ++k)
      y[k] = x[k] > threshold_ ? 1.0f : 0.0f;
    return {};
  }

 private:
  float threshold_ = 0;
};

// ---- FeatureVectorizer: columns side by side, each input cut or filled with zeros to its width

class VectorizerKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<VectorizerKernel>();
    kernel->name_ = "feature vectorizer";
    kernel->widths_ = site.attrs().integers("inputdimensions");
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext&) override {
    const size_t rows = size_t(out[0]->dims[0]), total = size_t(out[0]->dims[1]);
    if (rows == 0) return {};
    float* y = out[0]->as_mutable<float>();
    size_t at = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      const Dims& d = in[i]->dims;
      const size_t own = d.size() < 2 ? 1 : size_t(d[0]), cols = own == 0 ? 0 : size_t(in[i]->count()) / own;
      if (own != rows)
        return error(Code::invalid_argument, "input {} has {} rows, input 0 has {}", i, own, rows);
      const size_t width = i < widths_.size() ? size_t(widths_[i]) : cols, copied = std::min(width, cols);
      if (at + width > total)
        return error(Code::internal, "{} columns do not fit into {}", at + width, total);
      with_numbers(*in[i], [&](const auto* x) {
        StopCheck<65536> stop;
        for (size_t r = 0; r < rows && !stop(width); ++r) {
          float* to = y + r * total + at;
          for (size_t c = 0; c < copied; ++c) to[c] = float(x[r * cols + c]);
          std::fill(to + copied, to + width, 0.0f);
        }
      });
      at += width;
    }
    for (size_t r = 0; r < rows; ++r) std::fill(y + r * total + at, y + (r + 1) * total, 0.0f);
    return {};
  }

 private:
  std::vector<int64_t> widths_;
};

std::string vectorizer_refuses(const Site& site) {
  for (int64_t w : site.attrs().integers("inputdimensions")) {
    if (w < 0) return "inputdimensions has a negative number";
  }
  return refuse_unless_numbers(site);
}

const Implementation kScaler[] = {{"scaler", refuse_unless_numbers, ScalerKernel::make}};
const Implementation kImputer[] = {{"imputer", imputer_refuses, ImputerKernel::make}};
const Implementation kNormalizer[] = {{"normalizer", normalizer_refuses, NormalizerKernel::make}};
const Implementation kBinarizer[] = {{"binarizer", f32_refuses, BinarizerKernel::make}};
const Implementation kVectorizer[] = {{"feature vectorizer", vectorizer_refuses, VectorizerKernel::make}};
const Family kFamilies[] = {{"Scaler", "ai.onnx.ml", kScaler},
                            {"Imputer", "ai.onnx.ml", kImputer},
                            {"Normalizer", "ai.onnx.ml", kNormalizer},
                            {"Binarizer", "ai.onnx.ml", kBinarizer},
                            {"FeatureVectorizer", "ai.onnx.ml", kVectorizer}};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace sx::cpu::columns
