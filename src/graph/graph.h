// SPDX-License-Identifier: Apache-2.0
// Graph: values and nodes as ids into vectors. One Graph holds the main body and every nested body (branches,
// loops, groups), so a body that uses an outer value simply names its id.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/function_ref.h"
#include "graph/attrs.h"
#include "graph/node_list.h"
#include "graph/type.h"

namespace sx {

struct Op;

using ValueId = uint32_t;
inline constexpr ValueId kNoValue = ~ValueId(0);  // an optional input that is not given
inline constexpr NodeId kNoNode = ~NodeId(0);
inline constexpr BodyId kMainBody = 0;

struct Use {
  NodeId node = kNoNode;
  uint32_t input = 0;
  bool operator==(const Use&) const = default;
};
struct OutputUse {
  BodyId body = kMainBody;
  uint32_t output = 0;
};

struct ValueInfo {
  std::string name;
  Type type;
  BodyId body = kMainBody;
  NodeId producer = kNoNode;  // kNoNode: an input of its body, or a constant
  uint32_t producer_output = 0;
  std::vector<Use> uses;               // by nodes, in no order
  std::vector<OutputUse> output_uses;  // as an output of a body, in no order
  Value constant;                      // kind none: not known before the run
  std::vector<Dim> elements;           // contents of a small integer tensor as Dims, when has_elements
  bool has_elements = false;
  bool is_constant() const { return constant.kind != Value::Kind::none; }
};

struct Node {
  const Op* op = nullptr;    // null: an operator nobody knows
  std::string domain, type;  // as written; op's own when op is set
  std::string name;
  int version = 0;  // the operator version that the model asked for, for messages
  std::vector<ValueId> inputs, outputs;
  std::vector<uint32_t> use_at;  // by input: where its value lists this use
  Attrs attrs;                   // graphs among them are BodyRef
  BodyId body = kMainBody;       // where this node stands
  NodeList::Place place = 0;     // in that body's list
  bool removed = false;
  std::string origin;  // which rule or function made it; empty: the model itself
};

struct Body {
  std::vector<ValueId> inputs, outputs;
  std::vector<uint32_t> use_at;  // by output: where its value lists this use
  NodeList nodes;                // in execution order
  NodeId owner = kNoNode;        // the node whose attribute this is; kNoNode for the main body
  std::string name;
};

// A fact that inference assumed and a run must check: two sizes agree (or one is 1, where broadcast).
struct Guard {
  Dim a, b;
  bool broadcast = false;
  NodeId node = kNoNode;
  std::string what;  // "axis 2 of 'x' and of 'y'"
};

class Graph {
 public:
  Graph();
  Graph(Graph&&) noexcept = default;
  Graph& operator=(Graph&&) noexcept = default;
  Result<Graph> clone() const;  // shares constants and the dim pool
  // A copy with a pool of its own, where `known` symbols are numbers (negative: not known). It only reads
  // this graph, so that several threads may make one.
  Result<Graph> clone_apart(std::span<const int64_t> known = {}) const;

  std::string name, doc;
  std::vector<std::pair<std::string, std::string>> metadata;

  DimPool& pool() const { return *pool_; }
  const std::shared_ptr<DimPool>& shared_pool() const { return pool_; }

  // Reading. Ids are stable; removed nodes stay in the vector, marked.
  const ValueInfo& value(ValueId v) const { return values_[v]; }
  ValueInfo& value(ValueId v) { return values_[v]; }
  const Node& node(NodeId n) const { return nodes_[n]; }
  Node& node(NodeId n) {
    return nodes_[n];
  }  // attributes and names; edges change through the functions below
  const Body& body(BodyId b) const { return bodies_[b]; }
  const Body& main() const { return bodies_[kMainBody]; }
  size_t values() const { return values_.size(); }
  size_t nodes() const { return nodes_.size(); }
  size_t bodies() const { return bodies_.size(); }
  // Of the body that it lives in, or of one inside it.
  bool is_output(ValueId v) const { return !values_[v].output_uses.empty(); }
  bool is_main_output(ValueId v) const;
  size_t use_count(ValueId v) const { return values_[v].uses.size() + values_[v].output_uses.size(); }
  NodeId next(NodeId node) const;  // in the same body; kNoNode behind the last
  const std::vector<Guard>& guards() const { return guards_; }
  void add_guard(Guard guard);  // unless the same is already asked for wherever this one's node runs
  // Visits every guard, to change it or (false) to drop it.
  void edit_guards(FunctionRef<bool(Guard&)> edit);

  // Building.
  BodyId add_body(NodeId owner = kNoNode, std::string name = {});
  ValueId add_value(BodyId body, std::string name, Type type = {});  // an empty name gets a fresh one
  ValueId add_input(BodyId body, std::string name, Type type);
  ValueId add_constant(BodyId body, Value value, std::string name = {});
  // Appends to the body, or inserts before `before`. Outputs are made unless given.
  NodeId add_node(BodyId body, const Op* op, std::vector<ValueId> inputs, Attrs attrs, size_t outputs,
                  NodeId before = kNoNode);
  NodeId add_node(BodyId body, const Op* op, std::vector<ValueId> inputs, Attrs attrs,
                  std::vector<ValueId> outputs, NodeId before = kNoNode);
  void set_input(NodeId node, size_t index, ValueId value);
  void append_input(NodeId node, ValueId value);
  void set_inputs(NodeId node, std::vector<ValueId> inputs);
  void set_output(BodyId body, size_t index, ValueId value);
  void add_output(BodyId body, ValueId value);
  void set_outputs(BodyId body, std::vector<ValueId> outputs);
  void set_body_inputs(BodyId body, std::vector<ValueId> inputs) { bodies_[body].inputs = std::move(inputs); }
  void replace_uses(ValueId old_value, ValueId new_value);  // in nodes and in body outputs
  void remove_node(NodeId node);                            // its outputs must be unused; its bodies go too
  void make_constant(ValueId value, Value constant);        // drops the producer if nothing else needs it
  void move_before(NodeId node, NodeId before);  // also into another body; values it makes move along
  size_t remove_unused();                        // dead nodes, repeatedly; returns how many
  std::string fresh_name(std::string_view hint);

  // Every invariant that the rest of the program relies on; the first that is broken is named.
  Status verify() const;
  Status sort(BodyId body);  // topological; names a cycle if there is one

 private:
  // Edges that are given up or made; the lists of uses follow.
  void unlink_input(NodeId node, size_t index);
  void unlink_output(BodyId body, size_t index);
  void link_input(NodeId node, size_t index, ValueId value);
  void link_output(BodyId body, size_t index, ValueId value);
  uint64_t guard_key(const Guard& guard, BodyId body) const;

  std::shared_ptr<DimPool> pool_;
  std::vector<ValueInfo> values_;
  std::vector<Node> nodes_;
  std::vector<Body> bodies_;
  std::vector<Guard> guards_;
  std::unordered_map<uint64_t, size_t> guard_at_;  // by sizes and body: the newest of guards_
  uint64_t names_ = 0;
};

std::string describe(const Graph& graph, NodeId node);  // "node 'conv1' (Conv)"
std::string print(const Graph& graph);                  // readable text, for logs and tests

}  // namespace sx
