// SPDX-License-Identifier: Apache-2.0
// Lift: how an old version of an operator is said in newer ones. A lift either edits the node in place
// (attributes, inputs), which brings it to the next newer version, or builds newest-version nodes and names
// their values with replace(). A node that set_type() made another operator counts as that operator's newest
// version.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/format.h"
#include "graph/graph.h"

namespace sx {

class Lift {
 public:
  Lift(Graph& graph, NodeId node, int from_version) : graph_(graph), node_(node), from_(from_version) {}

  int from_version() const { return from_; }
  size_t inputs() const { return graph_.node(node_).inputs.size(); }
  size_t outputs() const { return graph_.node(node_).outputs.size(); }
  bool has(size_t i) const { return i < inputs() && in(i) != kNoValue; }
  ValueId in(size_t i) const { return graph_.node(node_).inputs[i]; }
  const Type& type(size_t i) const { return graph_.value(in(i)).type; }
  const Tensor* constant(size_t i) const;
  Attrs& attrs() { return graph_.node(node_).attrs; }

  // Editing in place.
  void set_input(size_t i, ValueId v);  // grows the list with absent inputs where needed
  void set_type(std::string_view op_name, std::string_view domain = "");  // the node becomes another operator
  // Moves an integer-list attribute into input i as a constant; nothing if the attribute is absent.
  void attr_to_input(std::string_view name, size_t i);

  // Building: nodes stand before this one. Operators are of the newest version.
  ValueId constant(Tensor t);
  ValueId ints(std::initializer_list<int64_t> v);  // 1-D
  ValueId ints(std::span<const int64_t> v);
  ValueId node(std::string_view op, std::vector<ValueId> inputs, Attrs attrs = {},
               std::string_view domain = "");
  std::vector<ValueId> nodes(std::string_view op, std::vector<ValueId> inputs, Attrs attrs, size_t outputs,
                             std::string_view domain = "");
  void replace(std::initializer_list<ValueId> outputs);  // these values take the place of the node's outputs
  bool replaced() const { return replaced_; }
  const std::vector<ValueId>& results() const { return results_; }  // what replace() was given
  const Op* become() const { return become_; }
  // The first thing that went wrong while building.
  const Status& status() const { return status_; }

  template <class... Args>
  Status fail(fmt::format_string<Args...> text, Args&&... args) const {
    return Status(Code::unsupported, fmt::vformat(text, fmt::make_format_args(args...)));
  }
  Graph& graph() { return graph_; }
  NodeId id() const { return node_; }

 private:
  Graph& graph_;
  NodeId node_;
  int from_;
  bool replaced_ = false;
  std::vector<ValueId> results_;
  const Op* become_ = nullptr;
  Status status_;
};

}  // namespace sx
