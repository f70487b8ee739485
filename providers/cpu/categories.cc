// SPDX-License-Identifier: Apache-2.0
// Categories: OneHotEncoder and LabelEncoder over a table made at compile time, ArrayFeatureExtractor.
#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "base/task.h"
#include "family.h"
#include "graph/op.h"
#include "key_table.h"

namespace sx::cpu::categories {
namespace {

// Memory for a result: what the planner gave, or fresh.
Result<Tensor> result_of(Value& given, DType type, const Dims& dims) {
  const bool fits = given.is_tensor() && given.tensor.type() == type && given.tensor.dims() == dims;
  if (fits && type != DType::string && given.tensor.mutable_data()) return given.tensor;
  return Tensor::allocate(type, dims);
}

// What run() and run_values() share: elements in, elements out, whichever types they have.
struct Elements {
  DType type = DType::undefined;
  const void* data = nullptr;
  size_t count = 0;
  static Elements of(const Tensor& t) { return {t.type(), t.data(), size_t(t.count())}; }
  static Elements of(const View& v) { return {v.type, v.data, size_t(v.count())}; }
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
};

// Calls put(k, place) for each element; place is -1 where it is no key. Stops where `put` says false.
template <class F>
void find_all(const KeyTable& table, const Elements& x, F put) {
  auto each = [&](const auto* list, auto key) {
    StopCheck<> stop;
    for (size_t k = 0; k < x.count && !stop(); ++k) {
      if (!put(k, table.find(key(list[k])))) return;
    }
  };
  switch (x.type) {
    case DType::string:
      return each(x.as<std::string>(), [](const std::string& s) { return std::string_view(s); });
    case DType::f32: return each(x.as<float>(), [](float v) { return v; });
    case DType::i32: return each(x.as<int32_t>(), [](int32_t v) { return int64_t(v); });
    default: return each(x.as<int64_t>(), [](int64_t v) { return v; });
  }
}

const std::vector<std::string>* texts(const Attrs& attrs, std::string_view name) {
  return attrs.get<std::vector<std::string>>(name);
}

// ---- OneHotEncoder

std::string one_hot_refuses(const Site& site) {
  const Type& x = site.in(0);
  const bool text = x.is_tensor() && x.elem == DType::string;
  if (!text && !(x.is_tensor() && (x.elem == DType::i64 || x.elem == DType::i32)))
    return format("X is {}", to_string(x));
  const bool by_text = texts(site.attrs(), "cats_strings") != nullptr,
             by_int = site.attrs().has("cats_int64s");
  return by_text == by_int || by_text != text ? "the categories are not of X's type" : "";
}

class OneHotKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<OneHotKernel>();
    const bool text = site.in(0).elem == DType::string;
    if (text) {
      std::vector<std::string> list = *texts(site.attrs(), "cats_strings");
      std::reverse(list.begin(), list.end());
      kernel->table_ = KeyTable::of_texts(list);
      kernel->width_ = list.size();
    } else {
      std::vector<int64_t> list = site.attrs().integers("cats_int64s");
      std::reverse(list.begin(), list.end());
      kernel->table_ = KeyTable::of_ints(list);
      kernel->width_ = list.size();
    }
    kernel->zeros_ = site.attrs().integer("zeros", 1) != 0;
    kernel->name_ = text ? "one-hot of texts" : "one-hot";
    kernel->traits_.values = text;
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext&) override {
    return encode(Elements::of(*in[0]), out[0]->as_mutable<float>());
  }
  Status run_values(std::span<const Value> in, std::span<Value> out, RunContext&) override {
    const Tensor& x = in[0].tensor;
    Dims dims = x.dims();
    dims.push_back(int64_t(width_));
    SX_ASSIGN(Tensor y, result_of(out[0], DType::f32, dims));
    SX_TRY(encode(Elements::of(x), y.mutable_as<float>().data()));
    out[0] = Value(std::move(y));
    return {};
  }

 private:
  Status encode(const Elements& x, float* y) const {
    std::fill_n(y, x.count * width_, 0.0f);
    Status status;
    find_all(table_, x, [&](size_t k, int64_t place) {
      if (place >= 0)
        y[k * width_ + width_ - 1 - size_t(place)] = 1;
      else if (!zeros_)
        status = unknown(x, k);
      return place >= 0 || zeros_;
    });
    return status;
  }
  static Status unknown(const Elements& x, size_t k) {
    if (x.type == DType::string) {
      return error(Code::invalid_argument, "'{}' is not one of the categories, and zeros is 0",
                   x.as<std::string>()[k]);
    }
    const int64_t v = x.type == DType::i32 ? x.as<int32_t>()[k] : x.as<int64_t>()[k];
    return error(Code::invalid_argument, "{} is not one of the categories, and zeros is 0", v);
  }
  KeyTable table_;  // from the last category to the first: of equal ones the last counts
  size_t width_ = 0;
  bool zeros_ = true;
};

// ---- LabelEncoder

// The list NAME_strings, NAME_int64s or NAME_floats, or NAME_tensor, as a tensor.
Tensor list_of(const Attrs& attrs, const std::string& name) {
  if (const auto* t = texts(attrs, name + "_strings")) return Tensor::of_strings({int64_t(t->size())}, *t);
  if (const auto* v = attrs.get<std::vector<int64_t>>(name + "_int64s")) return Tensor::vector_i64(*v);
  if (const auto* v = attrs.get<std::vector<float>>(name + "_floats")) {
    return Tensor::of<float>(DType::f32, {int64_t(v->size())}, *v);
  }
  const Tensor* t = attrs.get<Tensor>(name + "_tensor");
  return t ? *t : Tensor();
}

std::string label_refuses(const Site& site) {
  const Tensor keys = list_of(site.attrs(), "keys"), values = list_of(site.attrs(), "values");
  const Tensor* otherwise = site.attrs().get<Tensor>("default_tensor");
  for (const Tensor* t : {&keys, &values}) {
    if (t->type() != DType::string && t->type() != DType::i64 && t->type() != DType::f32) {
      return format("keys or values are {}", dtype_name(t->type()));
    }
  }
  if (!site.in(0).is_tensor() || site.in(0).elem != keys.type()) return "the keys are not of X's type";
  if (otherwise && (otherwise->type() != values.type() || otherwise->count() < 1))
    return "the default is not of the values' type";
  return keys.count() == values.count() ? "" : format("{} keys for {} values", keys.count(), values.count());
}

class LabelKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<LabelKernel>();
    const Attrs& attrs = site.attrs();
    const Tensor keys = list_of(attrs, "keys");
    kernel->table_ = keys.type() == DType::string ? KeyTable::of_texts(keys.strings())
                     : keys.type() == DType::f32  ? KeyTable::of_floats(keys.as<float>())
                                                  : KeyTable::of_ints(keys.as<int64_t>());
    kernel->values_ = list_of(attrs, "values");
    kernel->default_ = default_of(attrs, kernel->values_.type());
    kernel->name_ = "label encoder";
    kernel->traits_.values = keys.type() == DType::string || kernel->values_.type() == DType::string;
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext&) override {
    encode(Elements::of(*in[0]), out[0]->data);
    return {};
  }
  Status run_values(std::span<const Value> in, std::span<Value> out, RunContext&) override {
    const Tensor& x = in[0].tensor;
    SX_ASSIGN(Tensor y, result_of(out[0], values_.type(), x.dims()));
    encode(Elements::of(x), y.type() == DType::string ? y.mutable_strings().data() : y.mutable_data());
    out[0] = Value(std::move(y));
    return {};
  }

 private:
  static Tensor default_of(const Attrs& attrs, DType type) {
    if (const Tensor* t = attrs.get<Tensor>("default_tensor")) return *t;
    if (type == DType::string) return Tensor::of_strings({}, {attrs.text("default_string", "_Unused")});
    if (type == DType::i64) return Tensor::scalar_i64(attrs.integer("default_int64", -1));
    return Tensor::scalar_f32(attrs.floating("default_float", -0.0f));
  }
  void encode(const Elements& x, void* y) const {
    switch (values_.type()) {
      case DType::string:
        return put(x, values_.strings().data(), default_.strings()[0], static_cast<std::string*>(y));
      case DType::f32:
        return put(x, values_.as<float>().data(), default_.as<float>()[0], static_cast<float*>(y));
      default:
        return put(x, values_.as<int64_t>().data(), default_.as<int64_t>()[0], static_cast<int64_t*>(y));
    }
  }
  template <class T>
  void put(const Elements& x, const T* values, const T& otherwise, T* y) const {
    find_all(table_, x, [&](size_t k, int64_t place) {
      y[k] = place < 0 ? otherwise : values[place];
      return true;
    });
  }
  KeyTable table_;
  Tensor values_, default_;
};

// ---- ArrayFeatureExtractor

std::string extractor_refuses(const Site& site) {
  const Type& x = site.in(0);
  if (!x.is_tensor()) return format("X is {}", to_string(x));
  if (x.elem != DType::string && (dtype_bits(x.elem) < 8 || !site.ranked(0)))
    return format("X is {}", to_string(x));
  return site.in(1).elem == DType::i64 && site.ranked(1) ? "" : "the indices are not int64 of a known rank";
}

class ExtractorKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<ExtractorKernel>();
    kernel->name_ = "feature extractor";
    kernel->traits_.values = site.in(0).elem == DType::string;
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext&) override {
    const std::span<const int64_t> picks(in[1]->as<int64_t>(), size_t(in[1]->count()));
    SX_TRY(check(in[0]->dims, picks));
    const char* from = in[0]->as<char>();
    char* to = out[0]->as_mutable<char>();
    const size_t size = size_t(in[0]->dims.back()), rows = size ? size_t(in[0]->count()) / size : 0;
    switch (dtype_bits(in[0]->type) / 8) {
      case 4: pick<uint32_t>(from, rows, size, picks, to); break;
      case 8: pick<uint64_t>(from, rows, size, picks, to); break;
      default: {
        const size_t bytes = size_t(dtype_bits(in[0]->type)) / 8;
        for (size_t r = 0; r < rows; ++r) {
          for (int64_t p : picks) {
            std::memcpy(to, from + (r * size + size_t(p)) * bytes, bytes);
            to += bytes;
          }
        }
      }
    }
    return {};
  }
  Status run_values(std::span<const Value> in, std::span<Value> out, RunContext&) override {
    const Tensor& x = in[0].tensor;
    const std::span<const int64_t> picks = in[1].tensor.as<int64_t>();
    SX_TRY(check(x.dims(), picks));
    Dims dims = x.dims();
    dims.back() = int64_t(picks.size());
    if (dims.size() == 1) dims.insert(0, 1);
    SX_ASSIGN(Tensor y, Tensor::allocate(DType::string, dims));
    const size_t size = size_t(x.dims().back()), rows = size ? size_t(x.count()) / size : 0;
    pick<std::string>(x.strings().data(), rows, size, picks, y.mutable_strings().data());
    out[0] = Value(std::move(y));
    return {};
  }

 private:
  static Status check(const Dims& dims, std::span<const int64_t> picks) {
    if (dims.empty()) return Status(Code::invalid_argument, "X must have an axis");
    if (picks.empty()) return Status(Code::invalid_argument, "there are no indices");
    for (int64_t p : picks) {
      if (p < 0 || p >= dims.back())
        return error(Code::invalid_argument, "index {} is outside the {} features", p, dims.back());
    }
    return {};
  }
  template <class T>
  static void pick(const void* from, size_t rows, size_t size, std::span<const int64_t> picks, void* to) {
    const T* x = static_cast<const T*>(from);
    T* y = static_cast<T*>(to);
    for (size_t r = 0; r < rows; ++r, x += size) {
      for (int64_t p : picks) *y++ = x[p];
    }
  }
};

const Implementation kOneHot[] = {{"one-hot", one_hot_refuses, OneHotKernel::make}};
const Implementation kLabel[] = {{"label encoder", label_refuses, LabelKernel::make}};
const Implementation kExtractor[] = {{"feature extractor", extractor_refuses, ExtractorKernel::make}};
const Family kFamilies[] = {{"OneHotEncoder", "ai.onnx.ml", kOneHot},
                            {"LabelEncoder", "ai.onnx.ml", kLabel},
                            {"ArrayFeatureExtractor", "ai.onnx.ml", kExtractor}};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace sx::cpu::categories
