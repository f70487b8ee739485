// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax, LayerNormalization, RMSNormalization and the reductions.
#include <algorithm>

#include "base/format.h"
#include "family.h"
#include "graph/op.h"
#include "kernels/norm.h"
#include "kernels/reduce.h"
#include "kernels/softmax.h"

namespace sx::cpu::rows {
namespace {

size_t normal_axis(int64_t axis, size_t rank) { return size_t(axis < 0 ? axis + int64_t(rank) : axis); }

size_t span_of(const Dims& dims, size_t first, size_t last) {
  size_t n = 1;
  for (size_t i = first; i < last; ++i) n *= size_t(dims[i]);
  return n;
}

// ---- Softmax

std::string softmax_refuses(const Site& site) { return refuse_unless_f32(site, {0}); }

class SoftmaxKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<SoftmaxKernel>();
    kernel->axis_ = site.attrs().integer("axis", -1);
    kernel->log_ = site.op().op->name == "LogSoftmax";
    kernel->name_ = kernel->log_ ? "log softmax" : "softmax";
    kernel->traits_.in_place = {{0, 0}};
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext& context) override {
    const Dims& d = in[0]->dims;
    kernels::Softmax s;
    s.log = log_;
    if (d.empty()) {
      s.n = 1;
    } else {
      const size_t axis = normal_axis(axis_, d.size());
      s.outer = span_of(d, 0, axis);
      s.n = size_t(d[axis]);
      s.inner = span_of(d, axis + 1, d.size());
    }
    s.x_stride = s.y_stride = ptrdiff_t(s.n * s.inner);
    if (s.outer * s.n * s.inner > 0) {
      kernels::softmax_run(s, in[0]->as<float>(), nullptr, out[0]->as_mutable<float>(), context.parallel);
    }
    return {};
  }

 private:
  int64_t axis_ = -1;
  bool log_ = false;
};

// ---- norms

std::string norm_refuses(const Site& site) {
  if (std::string why = refuse_unless_f32(site, {0, 1, 2}); !why.empty()) return why;
  const size_t rank = site.in(0).shape.rank(), axis = normal_axis(site.attrs().integer("axis", -1), rank);
  const Shape& x = site.in(0).shape;
  for (size_t i : {size_t(1), size_t(2)}) {  // scale and bias cover the normalised axes exactly
    if (!site.has(i)) continue;
    const Shape& s = site.in(i).shape;
    bool same = s.rank() == rank - axis;
    for (size_t k = 0; same && k < s.rank(); ++k) same = s.dims[k] == x.dims[axis + k];
    if (!same) return format("input {} has shape {}, not that of the normalised axes", i, to_string(s));
  }
  return site.attrs().integer("stash_type", 1) == 1 ? "" : "the stash type is not float32";
}

class NormKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<NormKernel>();
    kernel->rms_ = site.op().op->name == "RMSNormalization";
    kernel->axis_ = site.attrs().integer("axis", -1);
    kernel->epsilon_ = site.attrs().floating("epsilon", 1e-5f);
    kernel->name_ = kernel->rms_ ? "rms norm" : "layer norm";
    kernel->traits_.in_place = {{0, 0}};
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext& context) override {
    const Dims& d = in[0]->dims;
    const size_t axis = normal_axis(axis_, d.size());
    kernels::LayerNorm norm;
    norm.rows = span_of(d, 0, axis);
    norm.n = span_of(d, axis, d.size());
    norm.x_stride = norm.y_stride = ptrdiff_t(norm.n);
    norm.epsilon = epsilon_;
    norm.rms = rms_;
    kernels::LayerNormData data;
    data.x = in[0]->as<float>();
    if (in.size() > 1 && in[1]->defined()) data.scale = in[1]->as<float>();
    if (in.size() > 2 && in[2]->defined()) data.bias = in[2]->as<float>();
    data.y = out[0]->as_mutable<float>();
    if (out.size() > 1 && out[1]->defined()) data.mean = out[1]->as_mutable<float>();
    if (out.size() > 2 && out[2]->defined()) data.inv_std = out[2]->as_mutable<float>();
    kernels::layer_norm_run(norm, data, context.parallel);
    return {};
  }

 private:
  bool rms_ = false;
  int64_t axis_ = -1;
  float epsilon_ = 1e-5f;
};

// ---- reductions

struct ReduceRow {
  std::string_view name;
  kernels::ReduceOp op;
};
constexpr ReduceRow kReductions[] = {
    {"ReduceSum", kernels::ReduceOp::sum},        {"ReduceMean", kernels::ReduceOp::mean},
    {"ReduceProd", kernels::ReduceOp::prod},      {"ReduceMax", kernels::ReduceOp::max},
    {"ReduceMin", kernels::ReduceOp::min},        {"ReduceSumSquare", kernels::ReduceOp::sum_square},
    {"ReduceL1", kernels::ReduceOp::l1},          {"ReduceL2", kernels::ReduceOp::l2},
    {"ReduceLogSum", kernels::ReduceOp::log_sum}, {"ReduceLogSumExp", kernels::ReduceOp::log_sum_exp},
};

std::string reduce_refuses(const Site& site) {
  if (std::string why = refuse_unless_f32(site, {0}); !why.empty()) return why;
  if (site.in(0).shape.rank() > kernels::kReduceMaxDims)
    return format("{} dimensions", site.in(0).shape.rank());
  if (site.has(1) && !site.constant(1)) return "the axes are not constant";
  return "";
}

struct ReducePrepared final : Prepared {
  kernels::ReducePlan plan;
};

class ReduceKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<ReduceKernel>();
    for (const ReduceRow& r : kReductions) {
      if (r.name == site.op().op->name) kernel->op_ = r.op;
    }
    kernel->name_ = format("reduce {}", site.op().op->name.substr(6));
    kernel->noop_ = site.attrs().integer("noop_with_empty_axes", 0) != 0;
    kernel->traits_.strided_inputs = 1;
    if (site.has(1)) {
      SX_ASSIGN(kernel->axes_, ints_of(view_of(*site.constant(1))));
    }
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Result<std::unique_ptr<Prepared>> prepare(ViewList in, ViewList, Needs&) override {
    const Dims& d = in[0]->dims;
    const Dims strides = in[0]->strides.empty() ? contiguous_strides(d) : in[0]->strides;
    std::unique_ptr<bool[]> reduced(new bool[d.size() + 1]);
    std::fill_n(reduced.get(), d.size(), axes_.empty() && !noop_);
    for (int64_t a : axes_) reduced[normal_axis(a, d.size())] = true;
    std::vector<size_t> sizes(d.begin(), d.end());
    std::vector<ptrdiff_t> steps(strides.begin(), strides.end());
    auto p = std::make_unique<ReducePrepared>();
    SX_ASSIGN(p->plan, kernels::ReducePlan::make(op_, sizes, steps, {reduced.get(), d.size()}));
    return std::unique_ptr<Prepared>(std::move(p));
  }
  Status run(const Prepared* p, ViewList in, ViewList out, RunContext& context) override {
    kernels::reduce_run(static_cast<const ReducePrepared*>(p)->plan, in[0]->as<float>(),
                        out[0]->as_mutable<float>(), context.parallel);
    return {};
  }

 private:
  kernels::ReduceOp op_ = kernels::ReduceOp::sum;
  std::vector<int64_t> axes_;
  bool noop_ = false;
};

const Implementation kSoftmax[] = {{"softmax", softmax_refuses, SoftmaxKernel::make}};
const Implementation kNorm[] = {{"norm", norm_refuses, NormKernel::make}};
const Implementation kReduce[] = {{"reduce", reduce_refuses, ReduceKernel::make}};
const Family kFamilies[] = {
    {"Softmax", "", kSoftmax},        {"LogSoftmax", "", kSoftmax},     {"LayerNormalization", "", kNorm},
    {"RMSNormalization", "", kNorm},  {"ReduceSum", "", kReduce},       {"ReduceMean", "", kReduce},
    {"ReduceProd", "", kReduce},      {"ReduceMax", "", kReduce},       {"ReduceMin", "", kReduce},
    {"ReduceSumSquare", "", kReduce}, {"ReduceL1", "", kReduce},        {"ReduceL2", "", kReduce},
    {"ReduceLogSum", "", kReduce},    {"ReduceLogSumExp", "", kReduce},
};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace sx::cpu::rows
