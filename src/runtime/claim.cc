// SPDX-License-Identifier: Apache-2.0
// Who runs each node.
#include "base/format.h"
#include "graph/infer_graph.h"
#include "graph/op.h"
#include "runtime/placement.h"
#include "runtime/size_check.h"
#include "runtime/symbols.h"

namespace sx {

void Placement::grow(const Graph& graph) {
  provider_of.resize(graph.nodes(), -1);
  notes.resize(graph.nodes());
  layout_of.resize(graph.values());
}

int Placement::owner(const Layout& layout) const {
  for (size_t p = 0; p < providers.size(); ++p) {
    if (providers[p]->layout_owner() == layout.owner) return int(p);
  }
  return -1;
}

bool is_group(const Graph& graph, NodeId node) {
  const Node& n = graph.node(node);
  return n.op != nullptr && n.op->domain == "sx" && n.op->name == "Group";
}

const Body* group_body(const Graph& graph, NodeId node) {
  if (!is_group(graph, node)) return nullptr;
  const BodyRef* ref = graph.node(node).attrs.get<BodyRef>("body");
  return ref ? &graph.body(ref->id) : nullptr;
}

bool is_group_body(const Graph& graph, BodyId body) {
  const NodeId owner = graph.body(body).owner;
  return owner != kNoNode && is_group(graph, owner);
}

int64_t estimate(Dim d) {
  if (d.is_constant()) return d.constant();
  const DimPool* pool = d.expr()->pool;
  thread_local std::vector<int64_t> guess;  // only what `d` mentions is set
  each_symbol(d, [&](uint32_t s) {
    const std::string& name = pool->symbol_name(s);
    const bool batch = name.find("batch") != std::string::npos || name == "N" || name == "B" || name == "b";
    if (guess.size() <= s) guess.resize(s + 1);
    guess[s] = batch ? 1 : 128;
  });
  int64_t v = 0;
  return evaluate(d, guess, v) && v > 0 ? v : 1;
}

double estimate_count(const Shape& shape) {
  if (!shape.known) return 1024;
  double n = 1;
  for (Dim d : shape.dims) n *= double(estimate(d));
  return n;
}

namespace {

// Which values have a size that is known only during the run. A provider with memory of its own does not get
// those: its memory is planned before.
class LateValues {
 public:
  explicit LateValues(const Graph& graph) : graph_(graph), late_(graph.values()), known_(graph.bodies()) {
    for (BodyId b = 0; b < graph.bodies(); ++b) {
      if (!is_group_body(graph, b)) visit(b);
    }
  }
  // The first operand of the node that cannot lie in a provider's memory; kNoValue: none.
  ValueId find(NodeId n) const {
    const Node& node = graph_.node(n);
    for (const auto* list : {&node.inputs, &node.outputs}) {
      for (ValueId v : *list) {
        if (v != kNoValue && late_[v]) return v;
      }
    }
    return kNoValue;
  }

 private:
  void visit(BodyId b) {
    std::vector<bool>& known = known_[b];
    if (!known.empty()) return;
    if (const NodeId owner = graph_.body(b).owner; owner != kNoNode) {
      visit(graph_.node(owner).body);
      known = known_[graph_.node(owner).body];
    }
    known.resize(graph_.pool().symbols() + 1);
    for (ValueId v : graph_.body(b).inputs) {
      for (Dim d : graph_.value(v).type.shape.dims) {
        if (const int64_t s = pure_symbol(d); s >= 0) known[size_t(s)] = true;
      }
    }
    for (NodeId n : graph_.body(b).nodes) {
      const Node& node = graph_.node(n);
      for (const auto* list : {&node.inputs, &node.outputs}) {
        for (ValueId v : *list) {
          if (v != kNoValue) late_[v] = late_[v] || is_late(v, known);
        }
      }
    }
  }

  bool is_late(ValueId v, const std::vector<bool>& known) const {
    const ValueInfo& info = graph_.value(v);
    const Type& type = info.type;
    if (!type.is_tensor() || type.elem == DType::string || !type.shape.known) return true;
    if (!only_known(type.shape.dims, known)) return true;
    if (info.producer == kNoNode) return false;
    const Node& producer = graph_.node(info.producer);
    if (!producer.op || !producer.op->view) return false;
    const ValueId from = producer.inputs[size_t(producer.op->view_of)];
    return from != kNoValue && late_[from];
  }

  const Graph& graph_;
  std::vector<bool> late_;
  std::vector<std::vector<bool>> known_;
};

}  // namespace

Status claim_nodes(const Graph& graph, Placement& placement) {
  placement.grow(graph);
  const LateValues late(graph);
  std::string unclaimed;
  size_t count = 0;
  for (BodyId b = 0; b < graph.bodies(); ++b) {
    if (is_group_body(graph, b)) continue;
    const bool may_not_run = in_branch(graph, b);
    for (NodeId n : graph.body(b).nodes) {
      const Node& node = graph.node(n);
      if (node.removed || (node.op && node.op->control_flow)) continue;
      auto& notes = placement.notes[n];
      notes.clear();
      placement.provider_of[n] = -1;
      // What inference refuses is left to the record, which says why if the branch is taken after all.
      const Status right = may_not_run ? SizeCheck(graph, {}).agree(n, {}, {}) : Status();
      for (size_t p = 0; p < placement.providers.size(); ++p) {
        const bool last = p + 1 == placement.providers.size();
        Claim claim =
            right.ok() || last ? placement.providers[p]->claim(graph, n) : Claim::no(right.message());
        if (claim.yes && placement.providers[p]->memory()) {
          if (const ValueId v = late.find(n); v != kNoValue) {
            claim = Claim::no(
                format("'{}' is no tensor whose size is known before the run", graph.value(v).name));
          }
        }
        notes.push_back({std::string(placement.providers[p]->name()), claim.yes, std::move(claim.reason)});
        if (claim.yes) {
          placement.provider_of[n] = int(p);
          break;
        }
      }
      if (placement.provider_of[n] < 0 && ++count <= 20) {
        unclaimed += "\n  " + describe(graph, n);
        for (const ClaimNote& note : notes) unclaimed += format("\n    {}: {}", note.provider, note.reason);
      }
    }
  }
  if (count == 0) return {};
  return error(Code::unsupported, "no provider runs {} node{}:{}", count, count == 1 ? "" : "s", unclaimed);
}

}  // namespace sx
