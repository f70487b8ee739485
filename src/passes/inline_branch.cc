// SPDX-License-Identifier: Apache-2.0
// If with a condition that is known: the nodes of the branch that is taken move to where the If stood.
#include <numeric>

#include "graph/builder.h"
#include "passes/rule.h"
#include "passes/steps.h"

namespace sx::passes {
namespace {

// By body: the one that its contents moved to; itself where they did not.
using Homes = std::vector<BodyId>;

bool inline_one(Graph& g, NodeId n, Homes& homes, const Record& record) {
  const Tensor* condition = constant_of(g, g.node(n).inputs[0]);
  if (!condition || condition->type() != DType::boolean || condition->count() != 1) return false;
  const bool taken = condition->as<uint8_t>()[0] != 0;
  const auto* branch = g.node(n).attrs.get<BodyRef>(taken ? "then_branch" : "else_branch");
  if (!branch || g.body(branch->id).outputs.size() < g.node(n).outputs.size()) return false;
  if (record.wanted())
    record.add(
        {"inline_branch", describe(g, n), node_text(g, n), taken ? "the then branch" : "the else branch"});
  const BodyId body = branch->id, home = g.node(n).body;
  const std::vector<NodeId> nodes = g.body(body).nodes;
  for (NodeId inner : nodes) g.move_before(inner, n);
  homes[body] = home;
  const std::vector<ValueId> results = g.body(body).outputs, outputs = g.node(n).outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] != kNoValue) substitute(g, outputs[i], results[i]);
  }
  g.remove_node(n);
  return true;
}

}  // namespace

size_t inline_branches(Graph& g, const Record& record) {
  size_t changed = 0;
  Homes homes(g.bodies());
  std::iota(homes.begin(), homes.end(), BodyId(0));
  for (NodeId n = 0; n < g.nodes(); ++n) {
    const Node& node = g.node(n);
    if (!node.removed && node.type == "If" && node.domain.empty() && node.inputs.size() == 1) {
      changed += inline_one(g, n, homes, record);
    }
  }
  if (changed == 0) return 0;
  for (ValueId v = 0; v < g.values(); ++v) {  // constants; what nodes make moved with them
    for (BodyId& body = g.value(v).body; homes[body] != body;) body = homes[body];
  }
  g.edit_guards([&](const Guard& guard) {  // also of nodes that are gone
    if (guard.node == kNoNode) return true;
    for (BodyId& body = g.node(guard.node).body; homes[body] != body;) body = homes[body];
    return true;
  });
  return changed;
}

}  // namespace sx::passes
