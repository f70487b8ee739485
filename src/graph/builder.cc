// SPDX-License-Identifier: Apache-2.0
// Making nodes by name, with their types inferred as they are made.
#include "graph/builder.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/format.h"
#include "graph/infer_graph.h"
#include "graph/op.h"

namespace sx {

ValueId Builder::op(std::string_view name, std::vector<ValueId> inputs, Attrs attrs,
                    std::string_view domain) {
  return ops(name, std::move(inputs), std::move(attrs), 1, domain)[0];
}

std::vector<ValueId> Builder::ops(std::string_view name, std::vector<ValueId> inputs, Attrs attrs,
                                  size_t outputs, std::string_view domain) {
  const Op* record = find_op(domain, name);
  last_ = graph_.add_node(body_, record, std::move(inputs), std::move(attrs), outputs, before_);
  Node& node = graph_.node(last_);
  node.origin = origin_;
  if (!record) {
    node.domain = domain;
    node.type = name;
    if (status_.ok()) status_ = error(Code::unsupported, "there is no operator {} to build with", name);
  } else if (Status inferred = infer_node(graph_, last_); !inferred.ok() && status_.ok()) {
    status_ = std::move(inferred);
  }
  return graph_.node(last_).outputs;
}

namespace {

// Rounds to nearest even.
uint16_t half_bits(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint16_t sign = uint16_t((bits >> 48) & 0x8000);
  const double size = std::fabs(value);
  if (std::isnan(value)) return 0x7e00;
  if (size >= 65520.0) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(size, &exponent);
  const int step = std::max(exponent - 11, -24);  // the exponent of the last bit that is kept
  const uint64_t units = uint64_t(std::nearbyint(std::ldexp(size, -step)));
  if (step == -24) return sign | uint16_t(units);
  return sign | uint16_t((uint64_t(step + 24) << 10) + units);
}

uint16_t bfloat_bits(double value) {
  const float f = float(value);
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  if (std::isnan(f)) return 0x7fc0;
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <class T>
Tensor scalar_as(DType type, T value) {
  return Tensor::of<T>(type, {}, {&value, 1});
}

const AttrDef* find_def(const Graph& graph, NodeId node, std::string_view name) {
  const Op* op = graph.node(node).op;
  for (const AttrDef& d : op->attrs) {
    if (d.name == name) return &d;
  }
  return nullptr;
}

}  // namespace

Tensor scalar_of(DType type, double value) {
  switch (type) {
    case DType::f32: return scalar_as<float>(type, float(value));
    case DType::f64: return scalar_as<double>(type, value);
    case DType::f16: return scalar_as<uint16_t>(type, half_bits(value));
    case DType::bf16: return scalar_as<uint16_t>(type, bfloat_bits(value));
    case DType::i64: return scalar_as<int64_t>(type, int64_t(value));
    case DType::i32: return scalar_as<int32_t>(type, int32_t(value));
    case DType::i16: return scalar_as<int16_t>(type, int16_t(value));
    case DType::i8: return scalar_as<int8_t>(type, int8_t(value));
    case DType::u64: return scalar_as<uint64_t>(type, uint64_t(value));
    case DType::u32: return scalar_as<uint32_t>(type, uint32_t(value));
    case DType::u16: return scalar_as<uint16_t>(type, uint16_t(value));
    case DType::u8: return scalar_as<uint8_t>(type, uint8_t(value));
    case DType::boolean: return scalar_as<uint8_t>(type, value != 0);
    case DType::c64: {
      const float parts[2] = {float(value), 0};
      return Tensor::of<float>(type, {}, parts);
    }
    case DType::c128: {
      const double parts[2] = {value, 0};
      return Tensor::of<double>(type, {}, parts);
    }
    default: return {};
  }
}

void substitute(Graph& graph, ValueId old, ValueId now) {
  if (old == now) return;
  if (graph.is_main_output(old)) {
    const std::string name = graph.value(old).name;
    const ValueInfo& made = graph.value(now);
    if (made.is_constant()) {
      now = graph.add_constant(kMainBody, Value(made.constant));
    } else if (made.producer == kNoNode || made.body != kMainBody || graph.is_main_output(now)) {
      const NodeId producer = graph.value(old).producer;
      now = Builder(graph, kMainBody, producer).op("Identity", {now});
    }
    graph.value(now).name = name;
    graph.value(old).name = graph.fresh_name(name);
  }
  graph.replace_uses(old, now);
}

BodyBuilder::BodyBuilder(Graph& graph, NodeId node)
    : Builder(graph, graph.node(node).body, node),
      node_(node),
      results_(graph.node(node).outputs.size(), kNoValue) {
  set_origin(graph.node(node).type);
}

size_t BodyBuilder::inputs() const { return graph().node(node_).inputs.size(); }
bool BodyBuilder::has(size_t i) const { return i < inputs() && in(i) != kNoValue; }
ValueId BodyBuilder::in(size_t i) const { return graph().node(node_).inputs[i]; }
const Type& BodyBuilder::type(size_t i) const { return graph().value(in(i)).type; }
const Attrs& BodyBuilder::attrs() const { return graph().node(node_).attrs; }

int64_t BodyBuilder::integer(std::string_view name) const {
  const AttrDef* def = find_def(graph(), node_, name);
  return attrs().integer(name, def ? def->integer : 0);
}

float BodyBuilder::floating(std::string_view name) const {
  const AttrDef* def = find_def(graph(), node_, name);
  return attrs().floating(name, def ? def->floating : 0);
}

std::string BodyBuilder::text(std::string_view name) const {
  const AttrDef* def = find_def(graph(), node_, name);
  return attrs().text(name, def ? def->text : std::string_view());
}

ValueId BodyBuilder::like(double value, ValueId v) {
  return constant(scalar_of(graph().value(v).type.elem, value));
}

void BodyBuilder::set(size_t output, ValueId v) {
  if (output >= results_.size()) results_.resize(output + 1, kNoValue);
  results_[output] = v;
}

}  // namespace sx
