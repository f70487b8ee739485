// SPDX-License-Identifier: Apache-2.0
// Elementwise operators and chains of them, each chain one pointwise program.
#include "pointwise_table.h"

#include <algorithm>

#include "base/format.h"
#include "graph/op.h"
#include "kernels/reorder.h"

namespace sx::cpu {

bool is_pointwise(const Graph& graph, NodeId node) { return pointwise_refuses(graph, node).empty(); }

namespace pointwise {
namespace {

using kernels::PointwiseBuilder;
using kernels::PointwisePlan;
using kernels::PointwiseProgram;
using kernels::PwType;

std::string refuses(const Site& site) { return pointwise_refuses(site.graph, site.anchor); }

std::vector<NodeId> members_of(const Site& site) {
  return site.body ? std::vector<NodeId>(site.body->nodes) : std::vector<NodeId>{site.node};
}

bool one_element(const Type& type) {
  return type.shape.known &&
         std::all_of(type.shape.dims.begin(), type.shape.dims.end(), [](Dim d) { return d.is_constant(1); });
}

// Blocked: every operand that is not a single element has the result's shape, and padded lanes stay zero.
bool can_block(const Site& site) {
  const Node& node = site.graph.node(site.node);
  const Type& out = site.graph.value(node.outputs[0]).type;
  if (!out.is_tensor() || out.elem != DType::f32 || !out.shape.known || out.shape.rank() < 3 ||
      out.shape.rank() > 5)
    return false;
  if (!out.shape.dims[1].is_constant()) return false;
  for (ValueId v : node.inputs) {
    if (v == kNoValue) continue;
    const Type& t = site.graph.value(v).type;
    if (one_element(t) && site.graph.value(v).is_constant()) continue;
    if (t.elem != DType::f32 || t.shape != out.shape || site.graph.value(v).is_constant()) return false;
  }
  if (out.shape.dims[1].constant() % int64_t(kernels::channel_block()) == 0) return true;
  for (ValueId v : node.inputs) {  // x + 1 does not keep a padded lane zero
    if (v != kNoValue && site.graph.value(v).is_constant()) return false;
  }
  const auto members = members_of(site);
  return std::all_of(members.begin(), members.end(), [&](NodeId m) { return keeps_zero(site.graph, m); });
}

std::vector<LayoutOffer> layouts(const Graph& graph, NodeId node) {
  const Site site(graph, node);
  const Node& n = graph.node(node);
  const double bytes = estimate_count(graph.value(n.outputs[0]).type.shape) * 4 * double(1 + n.inputs.size());
  LayoutOffer plain{std::vector<Layout>(n.inputs.size()), std::vector<Layout>(n.outputs.size()),
                    nanoseconds_for_bytes(bytes)};
  if (!can_block(site)) return {plain};
  LayoutOffer blocked = plain;
  const Layout layout{Layout::Kind::blocked_channels, uint16_t(kernels::channel_block()), 0};
  blocked.out[0] = layout;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    if (n.inputs[i] != kNoValue && !graph.value(n.inputs[i]).is_constant()) blocked.in[i] = layout;
  }
  return {plain, blocked};
}

bool can_fuse(const Graph& graph, std::span<const NodeId> members, NodeId next, std::string* why_not) {
  auto refuse = [&](std::string text) {
    if (why_not) *why_not = std::move(text);
    return false;
  };
  if (std::string why = pointwise_refuses(graph, next); !why.empty()) return refuse(why);
  const Shape& now = graph.value(graph.node(members.back()).outputs[0]).type.shape;
  const Shape& then = graph.value(graph.node(next).outputs[0]).type.shape;
  if (now != then) return refuse("it changes the shape");
  std::vector<ValueId> operands;
  auto count = [&](NodeId id) {
    for (ValueId v : graph.node(id).inputs) {
      const bool inside = v == kNoValue || std::any_of(members.begin(), members.end(), [&](NodeId m) {
                            return graph.node(m).outputs[0] == v;
                          });
      if (!inside && std::find(operands.begin(), operands.end(), v) == operands.end()) operands.push_back(v);
    }
  };
  for (NodeId m : members) count(m);
  count(next);
  return operands.size() <= kernels::kPwMaxInputs || refuse("too many operands for one program");
}

struct PointwisePrepared final : Prepared {
  explicit PointwisePrepared(PointwisePlan p) : plan(std::move(p)) {}
  PointwisePlan plan;
};

class PointwiseKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<PointwiseKernel>();
    SX_TRY(kernel->build(site));
    const Node& node = context.graph.node(context.node);
    const Type& out = context.graph.value(node.outputs[0]).type;
    for (size_t i = 0; i < node.inputs.size() && i < 64; ++i) {
      kernel->traits_.strided_inputs |= uint64_t(1) << i;
      if (node.inputs[i] == kNoValue) continue;
      const Type& in = context.graph.value(node.inputs[i]).type;
      if (in.elem == out.elem && in.shape == out.shape) kernel->traits_.in_place.push_back({0, uint8_t(i)});
    }
    if (!context.out[0].plain()) kernel->traits_.strided_inputs = 0;
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Result<std::unique_ptr<Prepared>> prepare(ViewList in, ViewList out, Needs&) override {
    if (!out[0]->layout.plain()) return prepare_blocked(in, out);
    const Dims& dims = out[0]->dims;
    std::vector<size_t> sizes(dims.begin(), dims.end());
    std::vector<std::vector<ptrdiff_t>> strides;
    for (size_t operand : operands_) strides.push_back(spread(*in[operand], dims));
    strides.push_back(spread(*out[0], dims));
    return finish(sizes, strides);
  }

  Status run(const Prepared* prepared, ViewList in, ViewList out, RunContext& context) override {
    const void* inputs[kernels::kPwMaxInputs];
    for (size_t i = 0; i < operands_.size(); ++i) inputs[i] = in[operands_[i]]->data;
    void* outputs[1] = {out[0]->data};
    kernels::pointwise_run(program_, static_cast<const PointwisePrepared*>(prepared)->plan, inputs, outputs,
                           context.parallel);
    return {};
  }

 private:
  // Strides over the result's dims; 0 where the operand is broadcast.
  static std::vector<ptrdiff_t> spread(const View& v, const Dims& dims) {
    const Dims own = v.strides.empty() ? contiguous_strides(v.dims) : v.strides;
    std::vector<ptrdiff_t> s(dims.size(), 0);
    const size_t lead = dims.size() - v.dims.size();
    for (size_t k = 0; k < v.dims.size(); ++k) {
      if (v.dims[k] != 1) s[lead + k] = ptrdiff_t(own[k]);
    }
    return s;
  }

  Result<std::unique_ptr<Prepared>> prepare_blocked(ViewList in, ViewList out) {
    const std::vector<size_t> sizes = {size_t(padded_count(out[0]->dims, out[0]->layout))};
    std::vector<std::vector<ptrdiff_t>> strides;
    for (size_t operand : operands_) strides.push_back({in[operand]->layout.plain() ? 0 : 1});
    strides.push_back({1});
    return finish(sizes, strides);
  }

  Result<std::unique_ptr<Prepared>> finish(const std::vector<size_t>& sizes,
                                           const std::vector<std::vector<ptrdiff_t>>& strides) {
    std::vector<kernels::PwOperand> operands;
    for (const auto& s : strides) operands.push_back({s});
    SX_ASSIGN(PointwisePlan plan, PointwisePlan::make(program_, sizes, operands));
    return std::unique_ptr<Prepared>(std::make_unique<PointwisePrepared>(std::move(plan)));
  }

  Status build(const Site& site) {
    PointwiseBuilder b;
    std::vector<std::pair<ValueId, PwValue>> known;
    auto get = [&](ValueId v) -> PwValue {
      if (v == kNoValue) return {};
      for (auto& [id, value] : known) {
        if (id == v) return value;
      }
      PwValue value = operand(b, site, v);
      known.emplace_back(v, value);
      return value;
    };
    PwValue result;
    for (NodeId m : members_of(site)) {
      std::vector<PwValue> in;
      for (ValueId v : site.graph.node(m).inputs) {
        if (v != kNoValue) in.push_back(get(v));
        if (clip_like(site.graph, m)) break;  // its limits are immediates
      }
      result = append_instructions(b, site.graph, m, std::move(in));
      known.emplace_back(site.graph.node(m).outputs[0], result);
      name_ += format("{}{}", name_.empty() ? "" : "+", site.graph.node(m).op->name);
    }
    if (members_of(site).size() > 6)
      name_ = format("{} … ({} operators)", site.op().op->name, members_of(site).size());
    name_ = "pointwise " + name_;
    PwType type{};
    pointwise_type(result.type, type);
    b.output(result.value, type);
    SX_ASSIGN(program_, b.build());
    return {};
  }

  static bool clip_like(const Graph& graph, NodeId m) { return graph.node(m).op->name == "Clip"; }

  PwValue operand(PointwiseBuilder& b, const Site& site, ValueId v) {
    const ValueInfo& info = site.graph.value(v);
    PwValue value{PointwiseBuilder::kNone, PwClass::floating, info.type.elem};
    value.kind = info.type.elem == DType::boolean ? PwClass::mask
                 : info.type.elem == DType::f32   ? PwClass::floating
                                                  : PwClass::integer;
    if (info.is_constant() && info.constant.tensor.count() == 1) {
      const Tensor& t = info.constant.tensor;
      switch (info.type.elem) {
        case DType::f32: value.value = b.constant(t.as<float>()[0]); return value;
        case DType::boolean: value.value = b.constant(t.as<uint8_t>()[0] ? 1.0f : 0.0f); return value;
        case DType::i32: value.value = b.constant_int(t.as<int32_t>()[0]); return value;
        default: value.value = b.constant_int(t.as<int64_t>()[0]); return value;
      }
    }
    PwType type{};
    pointwise_type(info.type.elem, type);
    value.value = b.input(type);
    operands_.push_back(size_t(site.operand(v)));
    return value;
  }

  PointwiseProgram program_;
  std::vector<size_t> operands_;  // of the step, in the program's order
};

const Implementation kImplementations[] = {{"pointwise", refuses, PointwiseKernel::make}};

constexpr std::string_view kNames[] = {
    "Neg",
    "Abs",
    "Sqrt",
    "Reciprocal",
    "Exp",
    "Log",
    "Erf",
    "Tanh",
    "Sigmoid",
    "Sin",
    "Cos",
    "Relu",
    "Mish",
    "HardSwish",
    "Softplus",
    "Softsign",
    "Floor",
    "Ceil",
    "Round",
    "Sign",
    "IsNaN",
    "IsInf",
    "Not",
    "LeakyRelu",
    "Elu",
    "Celu",
    "Selu",
    "ThresholdedRelu",
    "HardSigmoid",
    "Swish",
    "Gelu",
    "Clip",
    "Cast",
    "Where",
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Pow",
    "PRelu",
    "Max",
    "Min",
    "Sum",
    "Less",
    "LessOrEqual",
    "Greater",
    "GreaterOrEqual",
    "Equal",
    "And",
    "Or",
    "Xor",
};

}  // namespace

std::span<const Family> families() {
  static const std::vector<Family> list = [] {
    std::vector<Family> all;
    for (std::string_view name : kNames) all.push_back({name, "", kImplementations, layouts, can_fuse});
    return all;
  }();
  return list;
}

}  // namespace pointwise
}  // namespace sx::cpu
