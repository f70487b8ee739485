// SPDX-License-Identifier: Apache-2.0
// Groups: chains that one provider runs as one kernel.
#include <unordered_map>

#include "base/format.h"
#include "graph/builder.h"
#include "graph/op.h"
#include "runtime/placement.h"

namespace sx {
namespace {

constexpr size_t kMostMembers = 64;

// The node that alone uses the only output of `node`, in the same body; kNoNode if there is none.
NodeId only_user(const Graph& graph, NodeId node) {
  const Node& n = graph.node(node);
  size_t used = 0;
  for (ValueId v : n.outputs) used += v != kNoValue && graph.use_count(v) > 0;
  if (used != 1 || n.outputs[0] == kNoValue) return kNoNode;
  const ValueInfo& value = graph.value(n.outputs[0]);
  if (value.uses.empty() || graph.use_count(n.outputs[0]) != value.uses.size()) return kNoNode;
  const NodeId user = value.uses[0].node;
  for (const Use& use : value.uses) {
    if (use.node != user) return kNoNode;
  }
  return graph.node(user).body == n.body ? user : kNoNode;
}

std::vector<NodeId> grow_from(const Graph& graph, const Placement& placement, NodeId start) {
  std::vector<NodeId> members = {start};
  const Provider* provider = placement.provider(start);
  while (members.size() < kMostMembers) {
    const NodeId next = only_user(graph, members.back());
    if (next == kNoNode || placement.provider(next) != provider || is_group(graph, next)) break;
    std::string why_not;
    if (!provider->can_fuse(graph, members, next, &why_not)) break;
    members.push_back(next);
  }
  return members;
}

// Moves the members into a body of their own and leaves one Group node where the last one stood.
NodeId make_group(Graph& graph, const std::vector<NodeId>& members) {
  const NodeId last = members.back();
  const BodyId home = graph.node(last).body;
  const BodyId body = graph.add_body();
  std::vector<ValueId> outside, inside;
  std::unordered_map<ValueId, ValueId> map;
  auto mapped = [&](ValueId v) {
    if (auto it = map.find(v); it != map.end()) return it->second;
    const ValueInfo& info = graph.value(v);
    ValueId to = kNoValue;
    if (info.is_constant()) {
      to = graph.add_constant(body, info.constant, info.name);
      graph.value(to).type = graph.value(v).type;
    } else {
      to = graph.add_input(body, info.name, info.type);
    }
    graph.value(to).elements = graph.value(v).elements;
    graph.value(to).has_elements = graph.value(v).has_elements;
    outside.push_back(v);
    inside.push_back(to);
    map[v] = to;
    return to;
  };
  for (NodeId m : members) {
    std::vector<ValueId> inputs;
    const std::vector<ValueId> old_inputs = graph.node(m).inputs, old_outputs = graph.node(m).outputs;
    for (ValueId v : old_inputs) inputs.push_back(v == kNoValue ? kNoValue : mapped(v));
    std::vector<ValueId> outputs;
    for (ValueId v : old_outputs) {
      if (v == kNoValue) {
        outputs.push_back(kNoValue);
        continue;
      }
      const std::string name = graph.value(v).name;
      const Type type = graph.value(v).type;
      outputs.push_back(graph.add_value(body, name, type));
      map[v] = outputs.back();
    }
    const Op* op = graph.node(m).op;
    Attrs attrs = graph.node(m).attrs;
    const NodeId copy = graph.add_node(body, op, std::move(inputs), std::move(attrs), std::move(outputs));
    graph.node(copy).name = graph.node(m).name;
    graph.node(copy).version = graph.node(m).version;
  }
  const ValueId result = graph.node(last).outputs[0];
  graph.set_outputs(body, {graph.node(graph.body(body).nodes.back()).outputs[0]});

  // Constants inside the body are copies that share memory; the group takes only what changes as its inputs,
  // and constants too, so that a provider sees every operand of the group in one list.
  Attrs attrs;
  attrs.set("body", BodyRef{body});
  attrs.set("anchor", int64_t(0));
  const std::string name = graph.node(members[0]).name;
  const NodeId group =
      graph.add_node(home, find_op("sx", "Group"), outside, std::move(attrs), size_t(1), last);
  graph.set_body_inputs(body, inside);
  graph.node(group).name = name;
  const ValueId fused = graph.node(group).outputs[0];
  graph.value(fused).type = graph.value(result).type;
  graph.value(fused).elements = graph.value(result).elements;
  graph.value(fused).has_elements = graph.value(result).has_elements;
  std::swap(graph.value(fused).name, graph.value(result).name);
  graph.replace_uses(result, fused);
  for (auto it = members.rbegin(); it != members.rend(); ++it) graph.remove_node(*it);
  return group;
}

}  // namespace

Status fuse_groups(Graph& graph, Placement& placement) {
  if (!find_op("sx", "Group")) return Status(Code::internal, "the record of sx.Group is missing");
  const size_t bodies = graph.bodies();
  for (BodyId b = 0; b < bodies; ++b) {
    if (is_group_body(graph, b)) continue;
    const std::vector<NodeId> order = graph.body(b).nodes;
    for (NodeId start : order) {
      if (graph.node(start).removed || !placement.provider(start) || is_group(graph, start)) continue;
      const std::vector<NodeId> members = grow_from(graph, placement, start);
      if (members.size() < 2) continue;
      const int provider = placement.provider_of[start];
      const NodeId group = make_group(graph, members);
      placement.grow(graph);
      placement.provider_of[group] = provider;
      placement.notes[group] = placement.notes[start];
    }
  }
  return graph.verify();
}

}  // namespace sx
