// SPDX-License-Identifier: Apache-2.0
// Constant folding, by the operators' own evaluation.
#include <algorithm>

#include "graph/evaluate.h"
#include "graph/op.h"
#include "passes/rule.h"
#include "passes/steps.h"

namespace sx::passes {
namespace {

// The bytes of a tensor type whose shape is known; false otherwise.
bool bytes_of(const Type& type, size_t& bytes) {
  if (!type.is_tensor() || !type.shape.is_constant()) return false;
  int64_t count = 1;
  for (Dim d : type.shape.dims) {
    if (d.constant() < 0 || __builtin_mul_overflow(count, d.constant(), &count)) return false;
  }
  if (type.elem == DType::string) {
    bytes = size_t(count) * sizeof(std::string);
    return true;
  }
  return dtype_bytes(type.elem, uint64_t(count), bytes);
}

Tensor tensor_of(const ValueInfo& value) {
  std::vector<int64_t> ints;
  for (Dim d : value.elements) ints.push_back(d.constant());
  const Dims dims = value.type.shape.rank() == 0 ? Dims{} : Dims{int64_t(ints.size())};
  switch (value.type.elem) {
    case DType::i64: return Tensor::of<int64_t>(DType::i64, dims, ints);
    case DType::i32: {
      const std::vector<int32_t> narrow(ints.begin(), ints.end());
      return Tensor::of<int32_t>(DType::i32, dims, narrow);
    }
    case DType::boolean: {
      const std::vector<uint8_t> bits(ints.begin(), ints.end());
      return Tensor::of<uint8_t>(DType::boolean, dims, bits);
    }
    default: return {};
  }
}

}  // namespace

bool Folder::try_elements(NodeId node) {
  bool changed = false;
  const std::vector<ValueId> outputs = g_.node(node).outputs;
  for (ValueId v : outputs) {
    if (v == kNoValue || g_.node(node).removed) continue;
    const ValueInfo& value = g_.value(v);
    if (!value.has_elements || value.is_constant() || !value.type.is_tensor() || g_.use_count(v) == 0)
      continue;
    if (!std::all_of(value.elements.begin(), value.elements.end(), [](Dim d) { return d.is_constant(); }))
      continue;
    Tensor t = tensor_of(value);
    if (!t.defined()) continue;
    if (record_.wanted()) record_.add({"fold", describe(g_, node), node_text(g_, node), ""});
    g_.make_constant(v, Value(std::move(t)));
    changed = true;
  }
  return changed;
}

bool Folder::worth(NodeId node) const {
  const Node& n = g_.node(node);
  if (!n.op || !n.op->pure || n.op->control_flow || given_up_.contains(node) || n.outputs.empty())
    return false;
  if (n.domain == "sx") return false;
  size_t in = 0, out = 0;
  for (ValueId v : n.inputs) {
    if (v == kNoValue) continue;
    if (!g_.value(v).is_constant() || !g_.value(v).constant.is_tensor()) return false;
    in += g_.value(v).constant.tensor.bytes();
  }
  for (ValueId v : n.outputs) {
    size_t bytes = 0;
    if (v == kNoValue) continue;
    if (!bytes_of(g_.value(v).type, bytes)) {
      // Sizes that only the contents tell (NonZero, Unique) are small where the inputs are.
      if (!g_.value(v).type.is_tensor() || in > options_.fold_growth / 8) return false;
      bytes = in;
    }
    out += bytes;
  }
  return out <= options_.fold_bytes && (out <= in || out <= options_.fold_growth);
}

bool Folder::try_node(NodeId node) {
  if (!worth(node)) return false;
  std::vector<Value> inputs;
  for (ValueId v : g_.node(node).inputs) inputs.push_back(v == kNoValue ? Value() : g_.value(v).constant);
  auto made = evaluate_node(g_, node, inputs, {});
  const std::vector<ValueId> outputs = g_.node(node).outputs;
  const bool whole = made.ok() && made->size() >= outputs.size();
  for (size_t i = 0; whole && i < outputs.size(); ++i) {
    if (outputs[i] != kNoValue && !(*made)[i].is_tensor()) return given_up_.insert(node), false;
  }
  if (!whole) return given_up_.insert(node), false;
  if (record_.wanted()) record_.add({"fold", describe(g_, node), node_text(g_, node), ""});
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] != kNoValue) g_.make_constant(outputs[i], std::move((*made)[i]));
  }
  if (!g_.node(node).removed) g_.remove_node(node);
  return true;
}

Result<size_t> Folder::run() {
  size_t changed = 0;
  for (BodyId b = 0; b < g_.bodies(); ++b) {
    const std::vector<NodeId> nodes = g_.body(b).nodes;
    for (NodeId n : nodes) {
      if (g_.node(n).removed) continue;
      bool folded = try_elements(n);
      if (!g_.node(n).removed) folded = try_node(n) || folded;
      changed += folded;
    }
  }
  return changed;
}

}  // namespace sx::passes
