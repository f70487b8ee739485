// SPDX-License-Identifier: Apache-2.0
// If with a condition that is known: the nodes of the branch that is taken move to where the If stood.
#include <algorithm>

#include "graph/builder.h"
#include "passes/rule.h"
#include "passes/steps.h"

namespace sx::passes {
namespace {

void move_before(Graph& g, NodeId node, NodeId before) {
  const BodyId body = g.node(before).body;
  g.move_to_body(node, body);
  auto& nodes = g.body(body).nodes;
  nodes.pop_back();
  nodes.insert(std::find(nodes.begin(), nodes.end(), before), node);
}

bool inline_one(Graph& g, NodeId n, const Record& record) {
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
  for (NodeId inner : nodes) move_before(g, inner, n);
  for (ValueId v = 0; v < g.values(); ++v) {
    if (g.value(v).body == body) g.value(v).body = home;
  }
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
  for (NodeId n = 0; n < g.nodes(); ++n) {
    const Node& node = g.node(n);
    if (!node.removed && node.type == "If" && node.domain.empty() && node.inputs.size() == 1) {
      changed += inline_one(g, n, record);
    }
  }
  return changed;
}

}  // namespace sx::passes
