// SPDX-License-Identifier: Apache-2.0
// Inference over nodes and bodies: what records find out is merged into the values of a graph.
#include "graph/infer_graph.h"

#include <algorithm>

#include "base/format.h"
#include "base/task.h"
#include "graph/builder.h"
#include "graph/infer.h"
#include "graph/infer_bodies.h"
#include "graph/merge_types.h"
#include "graph/op.h"

namespace sx {
namespace {

constexpr size_t kMostElements = 64;

// The numbers of an integer type; false for other types.
bool integer_range(DType type, int64_t& least, int64_t& most) {
  const int bits = type == DType::boolean ? 1 : int(dtype_bits(type));
  if (type != DType::boolean && (!dtype_is_integer(type) || type == DType::u64)) return false;
  const bool is_signed = type != DType::boolean && dtype_is_signed(type);
  most = int64_t(~uint64_t(0) >> (64 - bits + int(is_signed)));
  least = is_signed ? -most - 1 : 0;
  return true;
}

// Integers wrap around where Dims do not. A number that wraps in its element type, or in int64 for sizes that
// can be, is left to the run; where only the sizes can tell, a guard refuses those for which it would.
bool fits(Infer& infer, Dim d, DType type) {
  constexpr int64_t kMostFactor = int64_t(1) << 31, kMostOffset = int64_t(1) << 62;
  int64_t least = 0, most = 0;
  if (!integer_range(type, least, most)) return false;
  if (d.is_constant()) return d.constant() >= least && d.constant() <= most;
  for (const DimTerm& t : d.expr()->terms) {
    const int64_t bound = t.atoms.empty() ? kMostOffset : kMostFactor;
    if (t.coefficient < -bound || t.coefficient > bound) return false;
  }
  const DimBounds bounds = bounds_of(d);
  if (type == DType::i64 || (bounds.lower >= least && bounds.upper <= most)) return true;
  infer.guards.push_back(
      {d, max(min(d, most), least), false, sx::format("an element of {}", dtype_name(type))});
  return true;
}

void keep_fitting_elements(Infer& infer) {
  for (Infer::Out& out : infer.results()) {
    const bool fit =
        out.type.is_tensor() && std::all_of(out.elements.begin(), out.elements.end(),
                                            [&](Dim d) { return fits(infer, d, out.type.elem); });
    out.has_elements = out.has_elements && fit;
  }
}

void merge_elements(ValueInfo& value, const Infer::Out& out) {
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
    if (found.is_constant() || (mentions_fresh(value.elements[i]) && !mentions_fresh(found)))
      value.elements[i] = found;
  }
}

Status merge_outputs(Graph& graph, NodeId node, std::vector<Infer::Out>& results) {
  const std::vector<ValueId> outputs = graph.node(node).outputs;
  for (size_t i = 0; i < outputs.size() && i < results.size(); ++i) {
    if (outputs[i] == kNoValue) continue;
    ValueInfo& value = graph.value(outputs[i]);
    const Type before = value.type;
    if (!merge_type(value.type, results[i].type)) {
      // Sizes that a file declares may be stale; those that follow from the inputs are right.
      value.type = before;
      value.type.shape = {};
      if (!merge_type(value.type, results[i].type)) {
        return error(Code::invalid_model, "output '{}' is {}, but its inputs make it {}", value.name,
                     to_string(before), to_string(results[i].type));
      }
      value.has_elements = false;
    }
    merge_elements(value, results[i]);
  }
  return {};
}

// One walk over nodes, with what it found out about bodies.
class Inference {
 public:
  explicit Inference(Graph& graph) : graph_(graph), bodies_(graph) {}
  Status node(NodeId node);
  Status body(BodyId body);

 private:
  void refuse(NodeId node, const Status& why);
  Graph& graph_;
  InferBodies bodies_;
};

Status Inference::node(NodeId node) {
  Graph& graph = graph_;
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
  auto infer_nodes = [&](BodyId inner) { return body(inner); };
  auto infer_inner = [&](BodyId inner, std::span<const Type> inputs) {
    return bodies_.infer(inner, inputs, infer_nodes);
  };
  infer.infer_body = infer_inner;
  Status status = infer.run();
  keep_fitting_elements(infer);
  if (status.ok()) status = merge_outputs(graph, node, infer.results());
  if (!status.ok()) return std::move(status).in(describe(graph, node));
  for (Infer::GuardNote& g : infer.guards) graph.add_guard({g.a, g.b, g.broadcast, node, std::move(g.what)});
  return {};
}

// A branch may never run, so what is wrong in it becomes a node that says so if it does. Nodes with bodies
// check for themselves.
void Inference::refuse(NodeId node, const Status& why) {
  Node& n = graph_.node(node);
  const Op* op = find_op("sx", "Refusal");
  const bool wrong = why.code() == Code::invalid_model || why.code() == Code::invalid_argument;
  const bool has_body = std::any_of(n.attrs.list().begin(), n.attrs.list().end(),
                                    [](const Attr& a) { return std::holds_alternative<BodyRef>(a.value); });
  if (!wrong || !op || !n.op || n.op == op || has_body) return;
  Attrs attrs = {{"of", describe(graph_, node)}, {"why", why.message()}};
  n.op = op;
  n.domain = op->domain;
  n.type = op->name;
  n.attrs = std::move(attrs);
}

Status Inference::body(BodyId body) {
  const std::vector<NodeId> nodes = graph_.body(body).nodes;
  const bool may_not_run = in_branch(graph_, body);
  for (NodeId n : nodes) {
    if (stop_requested()) return check_stop();
    Status status = node(n);
    if (status.ok()) continue;
    if (!may_not_run) return status;
    refuse(n, status);
  }
  return {};
}

}  // namespace

bool in_branch(const Graph& graph, BodyId body) {
  while (graph.body(body).owner != kNoNode) {
    const Node& owner = graph.node(graph.body(body).owner);
    if (owner.type == "If" && owner.domain.empty()) return true;
    body = owner.body;
  }
  return false;
}

Status infer_node(Graph& graph, NodeId node) { return Inference(graph).node(node); }
Status infer_body(Graph& graph, BodyId body) { return Inference(graph).body(body); }
Status infer_graph(Graph& graph) { return infer_body(graph, kMainBody); }

Result<std::vector<Type>> infer_given(const Graph& graph, NodeId node,
                                      FunctionRef<const Dims*(ValueId)> dims) {
  SX_ASSIGN(Graph own, graph.clone_apart());
  for (ValueId v = 0; v < own.values(); ++v) {
    if (const Dims* found = dims(v)) own.value(v).type.shape = constant_shape(*found);
  }
  SX_TRY(infer_node(own, node));
  std::vector<Type> types;
  for (ValueId v : own.node(node).outputs) types.push_back(v == kNoValue ? Type() : own.value(v).type);
  return types;
}

Status infer_anew(Graph& graph) {
  forget_inferred(graph, kMainBody);
  graph.edit_guards([](Guard&) { return false; });
  return infer_graph(graph);
}

}  // namespace sx
