// SPDX-License-Identifier: Apache-2.0
// Building and editing a Graph: every function here keeps producers, uses and scopes in step.
#include "graph/graph.h"

#include <algorithm>

#include "base/format.h"
#include "graph/op.h"

namespace sx {
namespace {

void drop_use(ValueInfo& value, Use use) {
  auto it = std::find(value.uses.begin(), value.uses.end(), use);
  if (it != value.uses.end()) value.uses.erase(it);
}

template <class Visit>
void each_body(const Attrs& attrs, Visit visit) {
  for (const Attr& a : attrs.list()) {
    if (const auto* one = std::get_if<BodyRef>(&a.value)) visit(one->id);
    if (const auto* many = std::get_if<std::vector<BodyRef>>(&a.value)) {
      for (BodyRef b : *many) visit(b.id);
    }
  }
}

}  // namespace

Graph::Graph() : pool_(std::make_shared<DimPool>()) { bodies_.emplace_back(); }

Result<Graph> Graph::clone() const {
  Graph g;
  g.name = name;
  g.doc = doc;
  g.metadata = metadata;
  g.pool_ = pool_;
  g.values_ = values_;
  g.nodes_ = nodes_;
  g.bodies_ = bodies_;
  g.guards_ = guards_;
  g.names_ = names_;
  return g;
}

bool Graph::is_output(ValueId v) const {
  return std::any_of(bodies_.begin(), bodies_.end(), [&](const Body& b) {
    return std::find(b.outputs.begin(), b.outputs.end(), v) != b.outputs.end();
  });
}

size_t Graph::use_count(ValueId v) const {
  size_t n = values_[v].uses.size();
  for (const Body& b : bodies_) n += size_t(std::count(b.outputs.begin(), b.outputs.end(), v));
  return n;
}

BodyId Graph::add_body(NodeId owner) {
  bodies_.emplace_back();
  bodies_.back().owner = owner;
  return BodyId(bodies_.size() - 1);
}

ValueId Graph::add_value(BodyId body, std::string value_name, Type type) {
  if (value_name.empty()) value_name = fresh_name("v");
  ValueInfo v;
  v.name = std::move(value_name);
  v.type = std::move(type);
  v.body = body;
  values_.push_back(std::move(v));
  return ValueId(values_.size() - 1);
}

ValueId Graph::add_input(BodyId body, std::string value_name, Type type) {
  const ValueId v = add_value(body, std::move(value_name), std::move(type));
  bodies_[body].inputs.push_back(v);
  return v;
}

ValueId Graph::add_constant(BodyId body, Value value, std::string value_name) {
  if (value_name.empty()) value_name = fresh_name("c");
  const ValueId v = add_value(body, std::move(value_name), type_of(value));
  values_[v].constant = std::move(value);
  return v;
}

NodeId Graph::add_node(BodyId body, const Op* op, std::vector<ValueId> inputs, Attrs attrs, size_t outputs,
                       NodeId before) {
  std::vector<ValueId> made(outputs);
  for (ValueId& v : made) v = add_value(body, {});
  return add_node(body, op, std::move(inputs), std::move(attrs), std::move(made), before);
}

NodeId Graph::add_node(BodyId body, const Op* op, std::vector<ValueId> inputs, Attrs attrs,
                       std::vector<ValueId> outputs, NodeId before) {
  const NodeId id = NodeId(nodes_.size());
  Node n;
  n.op = op;
  if (op) {
    n.domain = op->domain;
    n.type = op->name;
    n.version = 0;
  }
  n.body = body;
  n.attrs = std::move(attrs);
  n.outputs = std::move(outputs);
  nodes_.push_back(std::move(n));
  Node& node = nodes_.back();
  for (uint32_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    values_[node.outputs[i]].producer = id;
    values_[node.outputs[i]].producer_output = i;
  }
  each_body(node.attrs, [&](BodyId b) { bodies_[b].owner = id; });
  set_inputs(id, std::move(inputs));
  auto& order = bodies_[body].nodes;
  order.insert(before == kNoNode ? order.end() : std::find(order.begin(), order.end(), before), id);
  return id;
}

void Graph::set_input(NodeId node, size_t index, ValueId value) {
  ValueId& slot = nodes_[node].inputs[index];
  const Use use{node, uint32_t(index)};
  if (slot != kNoValue) drop_use(values_[slot], use);
  slot = value;
  if (value != kNoValue) values_[value].uses.push_back(use);
}

void Graph::append_input(NodeId node, ValueId value) {
  nodes_[node].inputs.push_back(kNoValue);
  set_input(node, nodes_[node].inputs.size() - 1, value);
}

void Graph::set_inputs(NodeId node, std::vector<ValueId> inputs) {
  for (size_t i = 0; i < nodes_[node].inputs.size(); ++i) set_input(node, i, kNoValue);
  nodes_[node].inputs.assign(inputs.size(), kNoValue);
  for (size_t i = 0; i < inputs.size(); ++i) set_input(node, i, inputs[i]);
}

void Graph::replace_uses(ValueId old_value, ValueId new_value) {
  if (old_value == new_value) return;
  const std::vector<Use> uses = values_[old_value].uses;
  for (Use u : uses) set_input(u.node, u.input, new_value);
  for (Body& b : bodies_) std::replace(b.outputs.begin(), b.outputs.end(), old_value, new_value);
}

void Graph::remove_node(NodeId node) {
  if (nodes_[node].removed) return;
  nodes_[node].removed = true;
  std::vector<BodyId> inner;
  each_body(nodes_[node].attrs, [&](BodyId b) { inner.push_back(b); });
  for (BodyId b : inner) {
    bodies_[b].outputs.clear();
    const std::vector<NodeId> nodes = bodies_[b].nodes;
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) remove_node(*it);
    bodies_[b] = {};
  }
  set_inputs(node, {});
  for (ValueId v : nodes_[node].outputs) {
    if (v != kNoValue && values_[v].producer == node) values_[v].producer = kNoNode;
  }
  std::erase(bodies_[nodes_[node].body].nodes, node);
}

void Graph::make_constant(ValueId value, Value constant) {
  values_[value].type = type_of(constant);
  values_[value].constant = std::move(constant);
  values_[value].has_elements = false;
  values_[value].elements.clear();
  const NodeId producer = values_[value].producer;
  if (producer == kNoNode) return;
  const ValueId spare = add_value(nodes_[producer].body, {}, values_[value].type);
  nodes_[producer].outputs[values_[value].producer_output] = spare;
  values_[spare].producer = producer;
  values_[spare].producer_output = values_[value].producer_output;
  values_[value].producer = kNoNode;
  const auto& outputs = nodes_[producer].outputs;
  const bool needed = std::any_of(outputs.begin(), outputs.end(),
                                  [&](ValueId v) { return v != kNoValue && use_count(v) > 0; });
  if (!needed) remove_node(producer);
}

void Graph::move_to_body(NodeId node, BodyId body) {
  std::erase(bodies_[nodes_[node].body].nodes, node);
  bodies_[body].nodes.push_back(node);
  nodes_[node].body = body;
  for (ValueId v : nodes_[node].outputs) {
    if (v != kNoValue) values_[v].body = body;
  }
}

size_t Graph::remove_unused() {
  std::vector<size_t> output_uses(values_.size(), 0);
  for (const Body& b : bodies_) {
    for (ValueId v : b.outputs) ++output_uses[v];
  }
  auto unused = [&](NodeId n) {
    if (nodes_[n].removed) return false;
    return std::all_of(nodes_[n].outputs.begin(), nodes_[n].outputs.end(), [&](ValueId v) {
      return v == kNoValue || (values_[v].uses.empty() && output_uses[v] == 0);
    });
  };
  size_t before = 0, after = 0;
  for (const Node& n : nodes_) before += n.removed ? 0 : 1;
  std::vector<NodeId> work;
  for (NodeId n = NodeId(nodes_.size()); n-- > 0;) {
    if (unused(n)) work.push_back(n);
  }
  while (!work.empty()) {
    const NodeId n = work.back();
    work.pop_back();
    if (!unused(n)) continue;
    // What a body inside uses of the outside is freed too.
    std::vector<NodeId> owners{n};
    std::vector<ValueId> freed;
    while (!owners.empty()) {
      const NodeId owner = owners.back();
      owners.pop_back();
      for (ValueId v : nodes_[owner].inputs) freed.push_back(v);
      each_body(nodes_[owner].attrs, [&](BodyId b) {
        for (ValueId v : bodies_[b].outputs) --output_uses[v], freed.push_back(v);
        owners.insert(owners.end(), bodies_[b].nodes.begin(), bodies_[b].nodes.end());
      });
    }
    remove_node(n);
    for (ValueId v : freed) {
      if (v != kNoValue && values_[v].producer != kNoNode) work.push_back(values_[v].producer);
    }
  }
  for (const Node& n : nodes_) after += n.removed ? 0 : 1;
  return before - after;
}

std::string Graph::fresh_name(std::string_view hint) { return format("{}~{}", hint, names_++); }

std::string describe(const Graph& graph, NodeId node) {
  const Node& n = graph.node(node);
  std::string who = n.name.empty() ? std::string() : "'" + n.name + "'";
  if (who.empty()) {
    auto out = std::find_if(n.outputs.begin(), n.outputs.end(), [](ValueId v) { return v != kNoValue; });
    who = out == n.outputs.end() ? format("#{}", node) : "that makes '" + graph.value(*out).name + "'";
  }
  const std::string type = n.domain.empty() ? n.type : n.domain + "." + n.type;
  return n.version > 0 ? format("node {} ({}, opset {})", who, type, n.version)
                       : format("node {} ({})", who, type);
}

}  // namespace sx
