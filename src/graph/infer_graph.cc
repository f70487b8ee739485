// SPDX-License-Identifier: Apache-2.0
// Inference over nodes and bodies: what records find out is merged into the values of a graph.
#include "graph/infer_graph.h"

#include <algorithm>

#include "base/format.h"
#include "base/task.h"
#include "graph/infer.h"
#include "graph/op.h"

namespace sx {
namespace {

constexpr size_t kMostElements = 64;

bool has_fresh(Dim d, const DimPool& pool) {
  if (d.is_constant()) return false;
  for (const DimTerm& t : d.expr()->terms) {
    for (const DimAtom* a : t.atoms) {
      if (a->op == DimOp::symbol ? pool.is_fresh(a->symbol)
                                 : has_fresh(a->a, pool) || has_fresh(a->b, pool)) {
        return true;
      }
    }
  }
  return false;
}

// The more exact of two descriptions of one size; false if they contradict each other.
bool merge_dim(Dim& have, Dim found, const DimPool& pool) {
  if (have == found) return true;
  if (have.is_constant() && found.is_constant()) return false;
  if (have.is_constant()) return true;
  if (found.is_constant() || (has_fresh(have, pool) && !has_fresh(found, pool))) have = found;
  return true;
}

bool merge_type(Type& have, const Type& found, const DimPool& pool) {
  if (!found.known()) return true;
  if (!have.known()) {
    have = found;
    return true;
  }
  if (have.kind != found.kind) return false;
  if (have.elem == DType::undefined) have.elem = found.elem;
  if (have.key == DType::undefined) have.key = found.key;
  if (found.elem != DType::undefined && have.elem != found.elem) return false;
  if (found.key != DType::undefined && have.key != found.key) return false;
  if (found.inner && have.inner) {
    Type inner = *have.inner;
    if (!merge_type(inner, *found.inner, pool)) return false;
    have.inner = std::make_shared<const Type>(std::move(inner));
  } else if (found.inner) {
    have.inner = found.inner;
  }
  if (!found.shape.known) return true;
  if (!have.shape.known) {
    have.shape = found.shape;
    return true;
  }
  if (have.shape.rank() != found.shape.rank()) return false;
  for (size_t i = 0; i < have.shape.rank(); ++i) {
    if (!merge_dim(have.shape.dims[i], found.shape.dims[i], pool)) return false;
  }
  return true;
}

// True where `have` says something that `given` does not: a body that was inferred with it must start again.
bool more_exact(const Type& have, const Type& given, const DimPool& pool) {
  if (!have.known()) return false;
  Type both = given;
  return !merge_type(both, have, pool) || !(both == given);
}

void merge_elements(ValueInfo& value, const Infer::Out& out, const DimPool& pool) {
  if (!out.has_elements || out.elements.size() > kMostElements) return;
  const bool fits = dtype_is_integer(value.type.elem) || value.type.elem == DType::boolean;
  if (!fits || !value.type.shape.known || value.type.shape.rank() > 1) return;
  if (!value.has_elements || value.elements.size() != out.elements.size()) {
    value.elements = out.elements;
    value.has_elements = true;
    return;
  }
  for (size_t i = 0; i < out.elements.size(); ++i) {
    const Dim found = out.elements[i];
    if (found.is_constant() || (has_fresh(value.elements[i], pool) && !has_fresh(found, pool)))
      value.elements[i] = found;
  }
}

void forget_types(Graph& graph, BodyId body) {
  for (NodeId n : graph.body(body).nodes) {
    for (ValueId v : graph.node(n).outputs) {
      if (v == kNoValue) continue;
      graph.value(v).type = {};
      graph.value(v).has_elements = false;
    }
    for (const Attr& a : graph.node(n).attrs.list()) {
      auto forget = [&](BodyId b) {
        for (ValueId v : graph.body(b).inputs) graph.value(v).type = {};
        forget_types(graph, b);
      };
      if (const auto* one = std::get_if<BodyRef>(&a.value)) forget(one->id);
      if (const auto* many = std::get_if<std::vector<BodyRef>>(&a.value)) {
        for (BodyRef b : *many) forget(b.id);
      }
    }
  }
}

Result<std::vector<Type>> infer_with(Graph& graph, BodyId body, std::span<const Type> inputs) {
  const std::vector<ValueId> own = graph.body(body).inputs;
  const size_t n = std::min(own.size(), inputs.size());
  bool again = false;
  for (size_t i = 0; i < n; ++i)
    again = again || more_exact(graph.value(own[i]).type, inputs[i], graph.pool());
  if (again) forget_types(graph, body);
  for (size_t i = 0; i < n; ++i) {
    ValueInfo& value = graph.value(own[i]);
    const bool same_kind = !value.type.known() || !inputs[i].known() ||
                           (value.type.kind == inputs[i].kind && value.type.elem == inputs[i].elem);
    if (!same_kind) {
      return error(Code::invalid_model, "input '{}' of the body is {}, it is given {}", value.name,
                   to_string(value.type), to_string(inputs[i]));
    }
    if (inputs[i].known()) value.type = inputs[i];
  }
  SX_TRY(infer_body(graph, body));
  std::vector<Type> types;
  for (ValueId v : graph.body(body).outputs) types.push_back(graph.value(v).type);
  return types;
}

Status merge_outputs(Graph& graph, NodeId node, std::vector<Infer::Out>& results) {
  const std::vector<ValueId> outputs = graph.node(node).outputs;
  for (size_t i = 0; i < outputs.size() && i < results.size(); ++i) {
    if (outputs[i] == kNoValue) continue;
    ValueInfo& value = graph.value(outputs[i]);
    const Type before = value.type;
    if (!merge_type(value.type, results[i].type, graph.pool())) {
      return error(Code::invalid_model, "output '{}' is {}, but its inputs make it {}", value.name,
                   to_string(before), to_string(results[i].type));
    }
    merge_elements(value, results[i], graph.pool());
  }
  return {};
}

// Sizes that cannot be right in a branch say that it is never taken, not that the model is wrong; a run that
// takes it reports them.
bool in_branch(const Graph& graph, BodyId body) {
  while (graph.body(body).owner != kNoNode) {
    const Node& owner = graph.node(graph.body(body).owner);
    if (owner.type == "If" && owner.domain.empty()) return true;
    body = owner.body;
  }
  return false;
}

}  // namespace

Status infer_node(Graph& graph, NodeId node) {
  const Op* op = graph.node(node).op;
  if (!op) return error(Code::unsupported, "the operator is unknown").in(describe(graph, node));
  if (!op->infer) return {};
  // Inference of bodies adds no nodes and no values, so the pointers below hold.
  std::vector<Infer::In> in;
  for (ValueId v : graph.node(node).inputs) {
    Infer::In given;
    if (v != kNoValue) {
      const ValueInfo& value = graph.value(v);
      given.given = true;
      given.type = value.type;
      given.constant = value.is_constant() ? &value.constant : nullptr;
      given.elements = value.has_elements ? &value.elements : nullptr;
    }
    in.push_back(std::move(given));
  }
  const size_t outputs = graph.node(node).outputs.size();
  Infer infer(*op, graph.node(node).attrs, std::move(in), outputs, graph.pool());
  for (size_t i = 0; i < outputs; ++i) infer.results()[i].wanted = graph.node(node).outputs[i] != kNoValue;
  auto infer_inner = [&](BodyId body, std::span<const Type> inputs) {
    return infer_with(graph, body, inputs);
  };
  infer.infer_body = infer_inner;
  Status status = op->infer(infer);
  if (status.ok()) status = merge_outputs(graph, node, infer.results());
  if (!status.ok()) return std::move(status).in(describe(graph, node));
  for (Infer::GuardNote& g : infer.guards) graph.add_guard({g.a, g.b, g.broadcast, node, std::move(g.what)});
  return {};
}

Status infer_body(Graph& graph, BodyId body) {
  const std::vector<NodeId> nodes = graph.body(body).nodes;
  const bool may_not_run = in_branch(graph, body);
  for (NodeId n : nodes) {
    if (stop_requested()) return check_stop();
    Status status = infer_node(graph, n);
    if (!status.ok() && !may_not_run) return status;
  }
  return {};
}

Status infer_graph(Graph& graph) { return infer_body(graph, kMainBody); }

}  // namespace sx
