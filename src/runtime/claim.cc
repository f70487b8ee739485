// SPDX-License-Identifier: Apache-2.0
// Who runs each node.
#include "base/format.h"
#include "graph/op.h"
#include "runtime/placement.h"

namespace sx {

void Placement::grow(const Graph& graph) {
  provider_of.resize(graph.nodes(), -1);
  notes.resize(graph.nodes());
  layout_of.resize(graph.values());
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
  DimPool* pool = d.expr()->pool;
  std::vector<int64_t> guess(pool->symbols());
  for (uint32_t s = 0; s < guess.size(); ++s) {
    const std::string& name = pool->symbol_name(s);
    const bool batch = name.find("batch") != std::string::npos || name == "N" || name == "B" || name == "b";
    guess[s] = batch ? 1 : 128;
  }
  int64_t v = 0;
  return evaluate(d, guess, v) && v > 0 ? v : 1;
}

double estimate_count(const Shape& shape) {
  if (!shape.known) return 1024;
  double n = 1;
  for (Dim d : shape.dims) n *= double(estimate(d));
  return n;
}

Status claim_nodes(const Graph& graph, Placement& placement) {
  placement.grow(graph);
  std::string unclaimed;
  size_t count = 0;
  for (BodyId b = 0; b < graph.bodies(); ++b) {
    if (is_group_body(graph, b)) continue;
    for (NodeId n : graph.body(b).nodes) {
      const Node& node = graph.node(n);
      if (node.removed || (node.op && node.op->control_flow)) continue;
      auto& notes = placement.notes[n];
      notes.clear();
      placement.provider_of[n] = -1;
      for (size_t p = 0; p < placement.providers.size(); ++p) {
        Claim claim = placement.providers[p]->claim(graph, n);
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
