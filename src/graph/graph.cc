// SPDX-License-Identifier: Apache-2.0
// Building and editing a Graph: every function here keeps producers, uses and scopes in step.
#include "graph/graph.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/hash.h"
#include "graph/merge_types.h"
#include "graph/op.h"

namespace sx {
namespace {

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
  g.guard_at_ = guard_at_;
  g.names_ = names_;
  return g;
}

Result<Graph> Graph::clone_apart(std::span<const int64_t> known) const {
  SX_ASSIGN(Graph g, clone());
  g.pool_ = std::make_shared<DimPool>();
  const size_t symbols = pool_->symbols();
  std::vector<Dim> values(symbols);
  const auto given = std::make_unique<bool[]>(symbols);
  for (uint32_t s = 0; s < symbols; ++s) {
    given[s] = true;
    values[s] = s < known.size() && known[s] >= 0 ? Dim(known[s]) : g.pool_->adopt(*pool_, s);
  }
  Substitution rebuilt(*g.pool_, values, {given.get(), symbols});
  for (ValueInfo& v : g.values_) {
    substitute(v.type, rebuilt);
    for (Dim& d : v.elements) d = rebuilt(d);
  }
  g.edit_guards([&](Guard& guard) {
    guard.a = rebuilt(guard.a);
    guard.b = rebuilt(guard.b);
    return true;
  });
  return g;
}

bool Graph::is_main_output(ValueId v) const {
  const auto& uses = values_[v].output_uses;
  return std::any_of(uses.begin(), uses.end(), [](OutputUse u) { return u.body == kMainBody; });
}

NodeId Graph::next(NodeId node) const {
  const NodeList& order = bodies_[nodes_[node].body].nodes;
  const auto it = ++NodeList::iterator(&order, nodes_[node].place);
  return it == order.end() ? kNoNode : *it;
}

// The same for both orders of the sizes.
uint64_t Graph::guard_key(const Guard& guard, BodyId body) const {
  auto one = [](Dim d) {
    return d.is_constant() ? hash_mix(1, uint64_t(d.constant())) : hash_mix(2, uint64_t(d.expr()->id));
  };
  const uint64_t a = one(guard.a), b = one(guard.b);
  return hash_mix(hash_mix(std::min(a, b), std::max(a, b)), body);
}

// A guard of the main body holds everywhere; one of a branch only where the branch is taken.
void Graph::add_guard(Guard guard) {
  const BodyId body = guard.node == kNoNode ? kMainBody : nodes_[guard.node].body;
  for (BodyId where : {body, kMainBody}) {
    const auto it = guard_at_.find(guard_key(guard, where));
    if (it == guard_at_.end()) continue;
    const Guard& have = guards_[it->second];
    const bool same = (have.a == guard.a && have.b == guard.b) || (have.a == guard.b && have.b == guard.a);
    if (!same || (have.broadcast && !guard.broadcast)) continue;
    if (have.node == kNoNode) return;
    const Node& node = nodes_[have.node];
    if (node.body == body || node.body == kMainBody) return;
  }
  guard_at_[guard_key(guard, body)] = guards_.size();
  guards_.push_back(std::move(guard));
}

void Graph::edit_guards(FunctionRef<bool(Guard&)> edit) {
  std::erase_if(guards_, [&](Guard& g) { return !edit(g); });
  guard_at_.clear();
  for (size_t i = 0; i < guards_.size(); ++i) {
    const NodeId node = guards_[i].node;
    guard_at_[guard_key(guards_[i], node == kNoNode ? kMainBody : nodes_[node].body)] = i;
  }
}

BodyId Graph::add_body(NodeId owner, std::string body_name) {
  bodies_.emplace_back();
  bodies_.back().owner = owner;
  bodies_.back().name = std::move(body_name);
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
  nodes_[id].place = before == kNoNode ? bodies_[body].nodes.insert(id)
                                       : bodies_[body].nodes.insert(id, nodes_[before].place);
  return id;
}

void Graph::unlink_input(NodeId node, size_t index) {
  const ValueId value = std::exchange(nodes_[node].inputs[index], kNoValue);
  if (value == kNoValue) return;
  std::vector<Use>& uses = values_[value].uses;
  const uint32_t at = nodes_[node].use_at[index];
  uses[at] = uses.back();
  nodes_[uses[at].node].use_at[uses[at].input] = at;
  uses.pop_back();
}

void Graph::link_input(NodeId node, size_t index, ValueId value) {
  nodes_[node].inputs[index] = value;
  if (value == kNoValue) return;
  nodes_[node].use_at[index] = uint32_t(values_[value].uses.size());
  values_[value].uses.push_back({node, uint32_t(index)});
}

void Graph::unlink_output(BodyId body, size_t index) {
  std::vector<OutputUse>& uses = values_[bodies_[body].outputs[index]].output_uses;
  const uint32_t at = bodies_[body].use_at[index];
  uses[at] = uses.back();
  bodies_[uses[at].body].use_at[uses[at].output] = at;
  uses.pop_back();
}

void Graph::link_output(BodyId body, size_t index, ValueId value) {
  bodies_[body].outputs[index] = value;
  bodies_[body].use_at[index] = uint32_t(values_[value].output_uses.size());
  values_[value].output_uses.push_back({body, uint32_t(index)});
}

void Graph::set_input(NodeId node, size_t index, ValueId value) {
  unlink_input(node, index);
  link_input(node, index, value);
}

void Graph::append_input(NodeId node, ValueId value) {
  nodes_[node].inputs.push_back(kNoValue);
  nodes_[node].use_at.push_back(0);
  link_input(node, nodes_[node].inputs.size() - 1, value);
}

void Graph::set_inputs(NodeId node, std::vector<ValueId> inputs) {
  for (size_t i = 0; i < nodes_[node].inputs.size(); ++i) unlink_input(node, i);
  nodes_[node].inputs.assign(inputs.size(), kNoValue);
  nodes_[node].use_at.assign(inputs.size(), 0);
  for (size_t i = 0; i < inputs.size(); ++i) link_input(node, i, inputs[i]);
}

void Graph::set_output(BodyId body, size_t index, ValueId value) {
  unlink_output(body, index);
  link_output(body, index, value);
}

void Graph::add_output(BodyId body, ValueId value) {
  bodies_[body].outputs.push_back(value);
  bodies_[body].use_at.push_back(0);
  link_output(body, bodies_[body].outputs.size() - 1, value);
}

void Graph::set_outputs(BodyId body, std::vector<ValueId> outputs) {
  for (size_t i = 0; i < bodies_[body].outputs.size(); ++i) unlink_output(body, i);
  bodies_[body].outputs.clear();
  bodies_[body].use_at.clear();
  for (ValueId v : outputs) add_output(body, v);
}

void Graph::replace_uses(ValueId old_value, ValueId new_value) {
  if (old_value == new_value) return;
  const std::vector<Use> uses = std::move(values_[old_value].uses);
  const std::vector<OutputUse> output_uses = std::move(values_[old_value].output_uses);
  values_[old_value].uses.clear();
  values_[old_value].output_uses.clear();
  for (Use u : uses) link_input(u.node, u.input, new_value);
  for (OutputUse u : output_uses) link_output(u.body, u.output, new_value);
}

void Graph::remove_node(NodeId node) {
  if (nodes_[node].removed) return;
  nodes_[node].removed = true;
  std::vector<BodyId> inner;
  each_body(nodes_[node].attrs, [&](BodyId b) { inner.push_back(b); });
  for (BodyId b : inner) {
    set_outputs(b, {});
    const std::vector<NodeId> nodes = bodies_[b].nodes;
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) remove_node(*it);
    bodies_[b] = {};
  }
  set_inputs(node, {});
  for (ValueId v : nodes_[node].outputs) {
    if (v != kNoValue && values_[v].producer == node) values_[v].producer = kNoNode;
  }
  bodies_[nodes_[node].body].nodes.erase(nodes_[node].place);
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

void Graph::move_before(NodeId node, NodeId before) {
  const BodyId body = nodes_[before].body;
  bodies_[nodes_[node].body].nodes.erase(nodes_[node].place);
  nodes_[node].place = bodies_[body].nodes.insert(node, nodes_[before].place);
  nodes_[node].body = body;
  for (ValueId v : nodes_[node].outputs) {
    if (v != kNoValue) values_[v].body = body;
  }
}

size_t Graph::remove_unused() {
  auto unused = [&](NodeId n) {
    if (nodes_[n].removed) return false;
    return std::all_of(nodes_[n].outputs.begin(), nodes_[n].outputs.end(),
                       [&](ValueId v) { return v == kNoValue || use_count(v) == 0; });
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
        freed.insert(freed.end(), bodies_[b].outputs.begin(), bodies_[b].outputs.end());
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
  if (n.domain == "sx" && n.type == "Refusal") return n.attrs.text("of", "");
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
