// SPDX-License-Identifier: Apache-2.0
// Range, Shape and Size: numbers that follow from little.
#include <algorithm>
#include <type_traits>

#include "base/format.h"
#include "base/task.h"
#include "family.h"
#include "graph/op.h"

namespace sx::cpu::range {
namespace {

std::string range_refuses(const Site& site) {
  for (size_t i = 0; i < 3; ++i) {
    if (!site.has(i) || !site.in(i).is_tensor()) return "an operand is not a tensor";
  }
  const DType t = site.in(0).elem;
  return t == DType::f32 || t == DType::f64 || t == DType::i32 || t == DType::i64
             ? ""
             : format("of {}", dtype_name(t));
}

template <class T>
void fill_range(const View& start, const View& step, const View& out) {
  const T first = start.as<T>()[0], by = step.as<T>()[0];
  T* to = out.as_mutable<T>();
  // Integers are added as unsigned ones: the way to the last number may pass their range.
  using U =
      typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  StopCheck<65536> stop;
  for (int64_t i = 0, n = out.count(); i < n && !stop(); ++i) to[i] = T(U(first) + U(i) * U(by));
}

class RangeKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext&) {
    auto kernel = std::make_unique<RangeKernel>();
    kernel->name_ = "range";
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext&) override {
    switch (out[0]->type) {
      case DType::f32: fill_range<float>(*in[0], *in[2], *out[0]); break;
      case DType::f64: fill_range<double>(*in[0], *in[2], *out[0]); break;
      case DType::i32: fill_range<int32_t>(*in[0], *in[2], *out[0]); break;
      default: fill_range<int64_t>(*in[0], *in[2], *out[0]); break;
    }
    return {};
  }
};

// Only the dims of the input matter, whatever it holds.
std::string shape_refuses(const Site& site) {
  if (!site.has(0) || !site.in(0).is_tensor() || site.in(0).elem == DType::string)
    return "not a numeric tensor";
  return site.ranked(0) ? "" : "the rank is not known";
}

class ShapeKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<ShapeKernel>();
    kernel->size_ = site.op().op->name == "Size";
    kernel->start_ = site.attrs().integer("start", 0);
    kernel->name_ = kernel->size_ ? "size" : "shape";
    kernel->traits_.unused_inputs = 1;
    kernel->traits_.strided_inputs = 1;
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext&) override {
    int64_t* to = out[0]->as_mutable<int64_t>();
    if (size_) {
      *to = in[0]->count();
      return {};
    }
    const int64_t rank = int64_t(in[0]->dims.size());
    const int64_t first = std::clamp<int64_t>(start_ < 0 ? start_ + rank : start_, 0, rank);
    for (int64_t i = 0; i < out[0]->count(); ++i) to[i] = in[0]->dims[size_t(first + i)];
    return {};
  }

 private:
  bool size_ = false;
  int64_t start_ = 0;
};

const Implementation kRange[] = {{"range", range_refuses, RangeKernel::make}};
const Implementation kShape[] = {{"shape", shape_refuses, ShapeKernel::make}};
const Family kFamilies[] = {{"Range", "", kRange}, {"Shape", "", kShape}, {"Size", "", kShape}};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace sx::cpu::range
