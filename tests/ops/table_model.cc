// SPDX-License-Identifier: Apache-2.0
// A case of a table as a model of one node.
#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "convert/convert.h"
#include "graph/op.h"
#include "onnx/tensor_data.h"
#include "ops/registry.h"
#include "table.h"

namespace sx::testing {
namespace {

onnx::TypeProto type_proto(const Value& v) {
  onnx::TypeProto type;
  if (v.kind == Value::Kind::sequence) {
    auto& sequence = type.sequence_type.make();
    if (!v.sequence->items.empty()) sequence.elem_type = type_proto(v.sequence->items[0]);
    if (!v.sequence->items.empty()) sequence.elem_type->tensor_type->shape.clear();
    return type;
  }
  if (v.kind == Value::Kind::optional) {
    auto& optional = type.optional_type.make();
    if (v.optional) optional.elem_type = type_proto(*v.optional);
    return type;
  }
  auto& tensor = type.tensor_type.make();
  tensor.elem_type = int32_t(v.tensor.type());
  auto& shape = tensor.shape.make();
  for (int64_t d : v.tensor.dims()) shape.dim.emplace_back().dim_value = d;
  return type;
}

template <class T>
bool read_number(std::string_view s, T& v) {
  const auto r = std::from_chars(s.data(), s.data() + s.size(), v);
  return r.ec == std::errc() && r.ptr == s.data() + s.size();
}

Status set_integer(std::string_view text, int64_t& v) {
  DType type;
  if (read_number(text, v)) return {};
  if (!parse_dtype(text, type)) return error(Code::invalid_argument, "'{}' is no integer", text);
  v = int64_t(type);
  return {};
}

Result<onnx::AttributeProto> attribute(const std::string& name, std::string_view text, AttrKind kind) {
  onnx::AttributeProto a;
  a.name = name;
  auto set_kind = [&](onnx::AttributeType t) { a.type = int32_t(t); };
  auto bad = [&] { return error(Code::invalid_argument, "attribute {}: '{}' does not fit", name, text); };
  switch (kind) {
    case AttrKind::integer: {
      int64_t v = 0;
      SX_TRY(set_integer(text, v));
      a.i = v;
      set_kind(onnx::AttributeType::i);
      return a;
    }
    case AttrKind::floating: {
      float v = 0;
      if (!read_number(text, v)) return bad();
      a.f = v;
      set_kind(onnx::AttributeType::f);
      return a;
    }
    case AttrKind::text:
      a.s = unquoted(text);
      set_kind(onnx::AttributeType::s);
      return a;
    case AttrKind::integers: {
      std::vector<int64_t> list;
      for (const std::string& item : items_of(text)) SX_TRY(set_integer(item, list.emplace_back()));
      a.ints = list;
      set_kind(onnx::AttributeType::ints);
      return a;
    }
    case AttrKind::floatings: {
      std::vector<float> list;
      for (const std::string& item : items_of(text)) {
        if (!read_number(std::string_view(item), list.emplace_back())) return bad();
      }
      a.floats = list;
      set_kind(onnx::AttributeType::floats);
      return a;
    }
    case AttrKind::texts:
      for (const std::string& item : items_of(text)) a.strings.emplace_back(item);
      set_kind(onnx::AttributeType::strings);
      return a;
    case AttrKind::tensor: {
      SX_ASSIGN(const Value v, parse_value(text));
      a.t = onnx::from_tensor(v.tensor);
      set_kind(onnx::AttributeType::t);
      return a;
    }
    default: return bad();
  }
}

}  // namespace

Result<onnx::Model> model_of(const TableCase& c) {
  const Op* op = find_op(c.domain, c.op);
  if (!op) return error(Code::not_found, "there is no operator {}", c.op);
  const int opset = c.version ? c.version : std::max(newest_opset(c.domain), op->since());
  const int at = history_at(*op, opset);
  if (at < 0) return error(Code::invalid_argument, "{} is younger than version {}", c.op, opset);
  const OpVersion version = version_of(*op, size_t(at));
  onnx::Model model;
  model.ir_version = 10;
  if (!c.domain.empty()) {
    auto& standard = model.opset_import.emplace_back();
    standard.domain = "";
    standard.version = newest_opset("");
  }
  auto& import = model.opset_import.emplace_back();
  import.domain = c.domain;
  import.version = opset;
  auto& graph = model.graph.make();
  graph.name = c.op;
  auto& node = graph.node.emplace_back();
  node.op_type = c.op;
  node.domain = c.domain;
  for (const auto& [name, text] : c.attrs) {
    AttrKind kind = AttrKind::none;
    for (const AttrDef& d : version.attrs) {
      if (d.name == name) kind = d.kind;
    }
    if (kind == AttrKind::none) kind = text.find('.') == text.npos ? AttrKind::integer : AttrKind::floating;
    SX_ASSIGN(onnx::AttributeProto a, attribute(name, text, kind));
    node.attribute.push_back(std::move(a));
  }
  for (const TableValue& v : c.inputs) {
    const bool given = v.value.kind != Value::Kind::none;
    node.input.emplace_back(given ? v.name : std::string());
    if (!given) continue;
    if (v.constant) {
      graph.initializer.push_back(onnx::from_tensor(v.value.tensor, v.name));
      continue;
    }
    auto& info = graph.input.emplace_back();
    info.name = v.name;
    info.type = type_proto(v.value);
  }
  size_t outputs = c.outputs.size();
  if (c.outputs.empty()) {  // a case that must fail names none
    outputs = size_t(std::count_if(version.out.begin(), version.out.end(),
                                   [](const Param& p) { return p.flags == kOnce; }));
    outputs = std::max<size_t>(outputs, 1);
  }
  for (size_t k = 0; k < outputs; ++k) {
    const bool given = c.outputs.empty() || c.outputs[k].value.kind != Value::Kind::none;
    node.output.emplace_back(given ? format("out_{}", k) : std::string());
    if (given) graph.output.emplace_back().name = format("out_{}", k);
  }
  return model;
}

}  // namespace sx::testing
