// SPDX-License-Identifier: Apache-2.0
#include "runtime/size_check.h"

#include <algorithm>
#include <unordered_map>

#include "base/format.h"
#include "graph/op.h"
#include "runtime/provider.h"

namespace sx {

Dim SizeCheck::resolved(Dim d) {
  int64_t v = 0;
  if (d.is_constant()) return d;
  return evaluate(d, symbols_, v) ? Dim(v) : unknown_.fresh();
}

SizeCheck::Known SizeCheck::describe_value(ValueId v, const View* view) {
  const ValueInfo& info = graph_.value(v);
  Known known;
  known.type = info.type;
  if (view && view->defined()) {
    known.type = Type::tensor(view->type, constant_shape(view->dims));
  } else {
    for (Dim& d : known.type.shape.dims) d = resolved(d);
  }
  if (info.is_constant() || !info.has_elements) return known;
  known.has_elements = std::all_of(info.elements.begin(), info.elements.end(), [&](Dim d) {
    int64_t element = 0;
    const bool resolves = evaluate(d, symbols_, element);
    known.elements.push_back(element);
    return resolves;
  });
  return known;
}

Result<std::vector<SizeCheck::Known>> SizeCheck::infer(NodeId id, std::span<const Known* const> in) {
  const Node& node = graph_.node(id);
  std::vector<Infer::In> given(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i]) continue;
    const ValueInfo& info = graph_.value(node.inputs[i]);
    given[i] = {true, in[i]->type, info.is_constant() ? &info.constant : nullptr,
                in[i]->has_elements ? &in[i]->elements : nullptr};
  }
  Infer infer(*node.op, node.attrs, std::move(given), node.outputs.size(), unknown_);
  for (size_t i = 0; i < node.outputs.size(); ++i) infer.results()[i].wanted = node.outputs[i] != kNoValue;
  // The caller's sizes are wrong, not the model.
  if (Status s = infer.run(); !s.ok()) return Status(Code::invalid_argument, s.message());
  std::vector<Known> found;
  for (Infer::Out& out : infer.results())
    found.push_back({std::move(out.type), std::move(out.elements), out.has_elements});
  return found;
}

Result<std::vector<SizeCheck::Known>> SizeCheck::infer_group(const Body& body, std::span<const Known> in) {
  std::unordered_map<ValueId, Known> known;
  for (size_t i = 0; i < body.inputs.size() && i < in.size(); ++i) known[body.inputs[i]] = in[i];
  for (NodeId member : body.nodes) {
    const Node& node = graph_.node(member);
    if (!node.op || !node.op->infer) continue;
    std::vector<const Known*> operands;
    for (ValueId v : node.inputs) {
      if (v != kNoValue && !known.contains(v)) known[v] = describe_value(v, nullptr);
      operands.push_back(v == kNoValue ? nullptr : &known[v]);
    }
    auto found = infer(member, operands);
    if (!found.ok()) return std::move(found).status().in(describe(graph_, member));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) known[node.outputs[i]] = std::move((*found)[i]);
    }
  }
  std::vector<Known> results;
  for (ValueId v : body.outputs) results.push_back(known[v]);
  return results;
}

namespace {

bool contradicts(const Type& found, const View& planned) {
  if (!found.known() || !found.is_tensor()) return false;
  if (found.elem != DType::undefined && found.elem != planned.type) return true;
  if (!found.shape.known) return false;
  if (found.shape.rank() != planned.dims.size()) return true;
  for (size_t k = 0; k < planned.dims.size(); ++k) {
    const Dim d = found.shape.dims[k];
    if (d.is_constant() && d.constant() != planned.dims[k]) return true;
  }
  return false;
}

}  // namespace

Status SizeCheck::agree(NodeId id, ViewList in, ViewList out) {
  const Node& node = graph_.node(id);
  if (!node.op || !node.op->infer || node.op->control_flow) return {};
  std::vector<Known> known;
  std::vector<const Known*> operands;
  known.reserve(node.inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    known.push_back(node.inputs[i] == kNoValue
                        ? Known()
                        : describe_value(node.inputs[i], i < in.size() ? in[i] : nullptr));
    operands.push_back(node.inputs[i] == kNoValue ? nullptr : &known.back());
  }
  const Body* body = group_body(graph_, id);
  SX_ASSIGN(const std::vector<Known> found, body ? infer_group(*body, known) : infer(id, operands));
  for (size_t i = 0; i < node.outputs.size() && i < found.size() && i < out.size(); ++i) {
    if (node.outputs[i] == kNoValue || !out[i] || !out[i]->defined()) continue;
    if (!contradicts(found[i].type, *out[i])) continue;
    return error(Code::invalid_argument, "'{}' is expected to be {}{}, but its inputs make it {}",
                 graph_.value(node.outputs[i]).name, dtype_name(out[i]->type), to_string(out[i]->dims),
                 to_string(found[i].type));
  }
  return {};
}

}  // namespace sx
