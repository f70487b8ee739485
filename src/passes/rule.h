// SPDX-License-Identifier: Apache-2.0
// Rule: looks at one node and says what could stand in its place. The driver does the rest.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/builder.h"
#include "graph/graph.h"

namespace sx::passes {

// What a rule proposes: values that stand for others. Empty: the rule does not apply.
struct Patch {
  std::vector<std::pair<ValueId, ValueId>> replace;  // old, new
  std::vector<NodeId> matched;                       // what the match consisted of, for the log
  bool empty() const { return replace.empty(); }
  static Patch with(ValueId old, ValueId now) { return {{{old, now}}, {}}; }
};

struct Rule {
  struct Way {
    std::vector<std::string_view> roots;  // operators that the match ends in; empty: any
    std::function<Patch(Graph&, NodeId)> apply;
  };
  std::string_view name;
  std::vector<Way> ways;

  Rule& operator|=(Rule other) {
    for (Way& w : other.ways) ways.push_back(std::move(w));
    return *this;
  }
  friend Rule operator|(Rule a, Rule b) { return std::move(a |= std::move(b)); }
};

// A rule written as a function of the root node.
template <class F>
Rule rule(std::vector<std::string_view> roots, F apply) {
  Rule r;
  r.ways.push_back({std::move(roots), std::move(apply)});
  return r;
}

const std::vector<Rule>& all_rules();

// What many rules ask.
const Tensor* constant_of(const Graph& graph, ValueId v);        // null if v is not a constant tensor
bool one_number(const Graph& graph, ValueId v, double& number);  // a constant of one element
bool constant_ints(const Graph& graph, ValueId v, std::vector<int64_t>& ints);
bool elements_of(const Graph& graph, ValueId v,
                 std::vector<Dim>& dims);                   // of a constant, or known by inference
bool same_shape(const Graph& graph, ValueId a, ValueId b);  // provably
// Everything but the first input is known before the run: the output's shape was computed, and is not only
// what the file says of it.
bool shape_is_computed(const Graph& graph, const Node& node);
const Node* producer(const Graph& graph, ValueId v, std::string_view op);  // null if another operator makes v
bool used_once(const Graph& graph, ValueId v);
inline const Shape& shape_of(const Graph& graph, ValueId v) { return graph.value(v).type.shape; }
inline DType elem_of(const Graph& graph, ValueId v) { return graph.value(v).type.elem; }
std::vector<int64_t> permutation(const Node& transpose, size_t rank);  // reversed where not given

}  // namespace sx::passes
