// SPDX-License-Identifier: Apache-2.0
#include "pointwise_table.h"

#include <algorithm>
#include <limits>

#include "base/format.h"
#include "epilogue_chain.h"
#include "graph/op.h"

namespace sx::cpu {
namespace {

using kernels::PointwiseBuilder;
using kernels::PwOp;

struct UnaryRow {
  std::string_view name;
  PwOp op;
  bool keeps_zero;
};
constexpr UnaryRow kUnary[] = {
    {"Neg", PwOp::neg, true},
    {"Abs", PwOp::abs, true},
    {"Sqrt", PwOp::sqrt, true},
    {"Reciprocal", PwOp::reciprocal, false},
    {"Exp", PwOp::exp, false},
    {"Log", PwOp::log, false},
    {"Erf", PwOp::erf, true},
    {"Tanh", PwOp::tanh, true},
    {"Sigmoid", PwOp::sigmoid, false},
    {"Sin", PwOp::sin, true},
    {"Cos", PwOp::cos, false},
    {"Relu", PwOp::relu, true},
    {"Mish", PwOp::mish, true},
    {"HardSwish", PwOp::hard_swish, true},
    {"Softplus", PwOp::softplus, false},
    {"Softsign", PwOp::softsign, true},
    {"Floor", PwOp::floor, true},
    {"Ceil", PwOp::ceil, true},
    {"Round", PwOp::round, true},
    {"Sign", PwOp::sign, true},
    {"IsNaN", PwOp::is_nan, true},
    {"Not", PwOp::logical_not, false},
};

// With immediates from attributes: the names and defaults of p and q.
struct ParametricRow {
  std::string_view name;
  PwOp op;
  std::string_view p;
  float p_default;
  std::string_view q;
  float q_default;
  bool keeps_zero;
};
constexpr ParametricRow kParametric[] = {
    {"LeakyRelu", PwOp::leaky_relu, "alpha", 0.01f, "", 0, true},
    {"Elu", PwOp::elu, "alpha", 1.0f, "", 0, true},
    {"Celu", PwOp::celu, "alpha", 1.0f, "", 0, true},
    {"Selu", PwOp::selu, "alpha", 1.67326319217681884765625f, "gamma", 1.05070102214813232421875f, true},
    {"ThresholdedRelu", PwOp::thresholded_relu, "alpha", 1.0f, "", 0, true},
    {"HardSigmoid", PwOp::hard_sigmoid, "alpha", 0.2f, "beta", 0.5f, false},
    {"Swish", PwOp::swish, "alpha", 1.0f, "", 0, true},
};

struct BinaryRow {
  std::string_view name;
  PwOp floating, integer;  // count_: not for this class
  bool mask_result;
  bool variadic;
  bool keeps_zero;
};
constexpr PwOp kNo = PwOp::count_;
constexpr BinaryRow kBinary[] = {
    {"Add", PwOp::add, PwOp::i_add, false, false, true},
    {"Sub", PwOp::sub, PwOp::i_sub, false, false, true},
    {"Mul", PwOp::mul, PwOp::i_mul, false, false, true},
    {"Div", PwOp::div, PwOp::i_div, false, false, false},
    {"Pow", PwOp::pow, kNo, false, false, false},
    {"PRelu", PwOp::prelu, kNo, false, false, true},
    {"Max", PwOp::max, PwOp::i_max, false, true, true},
    {"Min", PwOp::min, PwOp::i_min, false, true, true},
    {"Sum", PwOp::add, kNo, false, true, true},
    {"Less", PwOp::less, PwOp::i_less, true, false, false},
    {"LessOrEqual", PwOp::less_equal, PwOp::i_less_equal, true, false, false},
    {"Greater", PwOp::greater, PwOp::i_greater, true, false, false},
    {"GreaterOrEqual", PwOp::greater_equal, PwOp::i_greater_equal, true, false, false},
    {"Equal", PwOp::equal, PwOp::i_equal, true, false, false},
    {"And", PwOp::logical_and, kNo, true, false, true},
    {"Or", PwOp::logical_or, kNo, true, false, true},
    {"Xor", PwOp::logical_xor, kNo, true, false, true},
};

template <class Row, size_t n>
const Row* find(const Row (&rows)[n], std::string_view name) {
  for (const Row& r : rows) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

PwClass class_of(DType t) {
  if (t == DType::boolean) return PwClass::mask;
  return t == DType::f32 ? PwClass::floating : PwClass::integer;
}

std::string_view op_name(const Graph& graph, NodeId node) {
  const Node& n = graph.node(node);
  return n.op && n.op->domain.empty() ? n.op->name : std::string_view();
}

DType elem(const Graph& graph, ValueId v) { return graph.value(v).type.elem; }

std::string refuse_operand(const Graph& graph, ValueId v) {
  kernels::PwType t;
  const Type& type = graph.value(v).type;
  if (!type.is_tensor() || !pointwise_type(type.elem, t)) return format("an operand is {}", to_string(type));
  if (!type.shape.known) return "the rank of an operand is not known";
  if (type.shape.rank() > kernels::kPwMaxDims)
    return format("{} dimensions, at most {}", type.shape.rank(), kernels::kPwMaxDims);
  return "";
}

std::string refuse_types(const Graph& graph, NodeId node) {
  const Node& n = graph.node(node);
  const std::string_view name = op_name(graph, node);
  const PwClass kind = class_of(elem(graph, n.inputs[0]));
  if (name == "Cast")
    return elem(graph, n.outputs[0]) == DType::undefined ? "the target type is not known" : "";
  if (name == "Where") return "";
  if (name == "Not") return kind == PwClass::mask ? "" : "not boolean";
  if (const BinaryRow* row = find(kBinary, name)) {
    const bool logical = name == "And" || name == "Or" || name == "Xor";
    if (logical) return kind == PwClass::mask ? "" : "not boolean";
    if (name == "Pow" && elem(graph, n.inputs[1]) != DType::f32) return "the exponent is not float32";
    if (kind == PwClass::integer && row->integer == kNo) return "not for integers";
    if (kind == PwClass::mask && name != "Equal") return "not for booleans";
    return "";
  }
  if (name == "Abs" || name == "Neg") return kind == PwClass::mask ? "not for booleans" : "";
  return kind == PwClass::floating ? "" : "not float32";
}

bool clip_limits(const Graph& graph, const Node& n, float& low, float& high) {
  kernels::Activation a;
  return activation_of(graph, graph.value(n.outputs[0]).producer, a, low, high);
}

PwValue cast(PointwiseBuilder& b, PwValue x, DType to) {
  PwValue y{x.value, class_of(to), to};
  if (x.kind == y.kind) {
    if (to == DType::i32 && x.type == DType::i64) y.value = b.op(PwOp::i_wrap32, x.value);
    return y;
  }
  if (y.kind == PwClass::mask) {
    y.value = x.kind == PwClass::integer ? b.op(PwOp::i_not_equal, x.value, b.constant_int(0))
                                         : b.op(PwOp::not_equal, x.value, b.constant(0));
  } else if (y.kind == PwClass::integer) {
    y.value = b.op(PwOp::f_to_i, x.value);
    if (to == DType::i32) y.value = b.op(PwOp::i_wrap32, y.value);
  } else if (x.kind == PwClass::integer) {
    y.value = b.op(PwOp::i_to_f, x.value);
  }
  return y;
}

PwValue binary(PointwiseBuilder& b, const BinaryRow& row, const std::vector<PwValue>& in) {
  const bool integer = in[0].kind == PwClass::integer;
  PwValue y{in[0].value, row.mask_result ? PwClass::mask : in[0].kind,
            row.mask_result ? DType::boolean : in[0].type};
  for (size_t i = 1; i < in.size(); ++i) {
    y.value = b.op(integer ? row.integer : row.floating, y.value, in[i].value);
    const bool grows = row.integer == PwOp::i_add || row.integer == PwOp::i_sub || row.integer == PwOp::i_mul;
    if (integer && grows && in[0].type == DType::i32) y.value = b.op(PwOp::i_wrap32, y.value);
  }
  return y;
}

}  // namespace

bool pointwise_type(DType type, kernels::PwType& t) {
  switch (type) {
    case DType::f32: t = kernels::PwType::f32; return true;
    case DType::boolean: t = kernels::PwType::boolean; return true;
    case DType::i32: t = kernels::PwType::i32; return true;
    case DType::i64: t = kernels::PwType::i64; return true;
    default: return false;
  }
}

std::string pointwise_refuses(const Graph& graph, NodeId node) {
  const Node& n = graph.node(node);
  const std::string_view name = op_name(graph, node);
  const bool known = find(kUnary, name) || find(kParametric, name) || find(kBinary, name) || name == "Cast" ||
                     name == "Where" || name == "Gelu" || name == "Clip" || name == "IsInf";
  if (!known || n.inputs.empty() || n.inputs[0] == kNoValue) return "not a pointwise operator";
  if (n.inputs.size() > kernels::kPwMaxInputs)
    return format("{} operands, at most {}", n.inputs.size(), kernels::kPwMaxInputs);
  for (ValueId v : n.inputs) {
    if (v == kNoValue) continue;
    if (std::string why = refuse_operand(graph, v); !why.empty()) return why;
  }
  if (std::string why = refuse_operand(graph, n.outputs[0]); !why.empty()) return why;
  if (name == "Clip") {
    float low = 0, high = 0;
    if (!clip_limits(graph, n, low, high)) return "the limits are not constant";
  }
  return refuse_types(graph, node);
}

PwValue append_instructions(PointwiseBuilder& b, const Graph& graph, NodeId node, std::vector<PwValue> in) {
  const Node& n = graph.node(node);
  const std::string_view name = op_name(graph, node);
  const PwValue x = in[0];
  const bool integer = x.kind == PwClass::integer;
  if (name == "Cast") return cast(b, x, elem(graph, n.outputs[0]));
  if (name == "Where") {
    const PwOp op = in[1].kind == PwClass::integer ? PwOp::i_select : PwOp::select;
    return {b.op(op, x.value, in[1].value, in[2].value), in[1].kind, in[1].type};
  }
  if (name == "Gelu") {
    const bool tanh = n.attrs.text("approximate", "none") == "tanh";
    return {b.op(tanh ? PwOp::gelu_tanh : PwOp::gelu, x.value), x.kind, x.type};
  }
  if (name == "Clip") {
    float low = 0, high = 0;
    clip_limits(graph, n, low, high);
    return {b.op_with(PwOp::clip, x.value, low, high), x.kind, x.type};
  }
  if (name == "IsInf") {
    const float plus = float(n.attrs.integer("detect_positive", 1)),
                minus = float(n.attrs.integer("detect_negative", 1));
    return {b.op_with(PwOp::is_inf, x.value, plus, minus), PwClass::mask, DType::boolean};
  }
  if (const ParametricRow* row = find(kParametric, name)) {
    const float p = n.attrs.floating(row->p, row->p_default),
                q = row->q.empty() ? 0 : n.attrs.floating(row->q, row->q_default);
    return {b.op_with(row->op, x.value, p, q), x.kind, x.type};
  }
  if (const UnaryRow* row = find(kUnary, name)) {
    if (integer) {
      PwValue y{b.op(name == "Abs" ? PwOp::i_abs : PwOp::i_neg, x.value), x.kind, x.type};
      if (x.type == DType::i32) y.value = b.op(PwOp::i_wrap32, y.value);
      return y;
    }
    const bool mask = name == "IsNaN" || name == "Not";
    return {b.op(row->op, x.value), mask ? PwClass::mask : x.kind, mask ? DType::boolean : x.type};
  }
  return binary(b, *find(kBinary, name), in);
}

bool keeps_zero(const Graph& graph, NodeId node) {
  const std::string_view name = op_name(graph, node);
  if (auto* row = find(kUnary, name)) return row->keeps_zero;
  if (auto* row = find(kParametric, name)) return row->keeps_zero;
  if (auto* row = find(kBinary, name)) return row->keeps_zero;
  return name == "Gelu";
}

}  // namespace sx::cpu
