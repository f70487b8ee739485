// SPDX-License-Identifier: Apache-2.0
#include "passes/rule.h"

#include <algorithm>

#include "ops/engine/codec.h"
#include "passes/optimize.h"

namespace sx::passes {

#define SX_ITEM(name) Rule name();
#include "rule_list.inc"
#undef SX_ITEM

namespace {

std::vector<Rule> make_rules() {
  std::vector<Rule> rules;
  auto add = [&](std::string_view name, Rule rule) {
    rule.name = name;
    rules.push_back(std::move(rule));
  };
#define SX_ITEM(name) add(#name, name());
#include "rule_list.inc"
#undef SX_ITEM
  return rules;
}

}  // namespace

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> rules = make_rules();
  return rules;
}

std::vector<std::string_view> rule_names() {
  std::vector<std::string_view> names;
  for (const Rule& r : all_rules()) names.push_back(r.name);
  return names;
}

const Tensor* constant_of(const Graph& graph, ValueId v) {
  if (v == kNoValue) return nullptr;
  const Value& c = graph.value(v).constant;
  return c.is_tensor() ? &c.tensor : nullptr;
}

bool one_number(const Graph& graph, ValueId v, double& number) {
  const Tensor* t = constant_of(graph, v);
  if (!t || t->count() != 1 || t->type() == DType::string || dtype_is_complex(t->type())) return false;
  number = number_at<double>(*t);
  return true;
}

bool constant_ints(const Graph& graph, ValueId v, std::vector<int64_t>& ints) {
  const Tensor* t = constant_of(graph, v);
  if (!t || !dtype_is_integer(t->type())) return false;
  const Reader<int64_t> reader(*t);
  ints.assign(reader.begin(), reader.end());
  return true;
}

bool elements_of(const Graph& graph, ValueId v, std::vector<Dim>& dims) {
  if (v == kNoValue) return false;
  if (graph.value(v).has_elements) {
    dims = graph.value(v).elements;
    return true;
  }
  std::vector<int64_t> ints;
  if (!constant_ints(graph, v, ints)) return false;
  dims.assign(ints.begin(), ints.end());
  return true;
}

bool shape_is_computed(const Graph& graph, const Node& node) {
  std::vector<Dim> dims;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const ValueId v = node.inputs[i];
    if (v != kNoValue && !graph.value(v).is_constant() && !elements_of(graph, v, dims)) return false;
  }
  return true;
}

bool same_shape(const Graph& graph, ValueId a, ValueId b) {
  return shape_of(graph, a).known && shape_of(graph, a) == shape_of(graph, b);
}

const Node* producer(const Graph& graph, ValueId v, std::string_view op) {
  if (v == kNoValue || graph.value(v).producer == kNoNode) return nullptr;
  const Node& n = graph.node(graph.value(v).producer);
  return n.domain.empty() && n.type == op && n.outputs[0] == v ? &n : nullptr;
}

bool used_once(const Graph& graph, ValueId v) { return graph.use_count(v) == 1; }

std::vector<int64_t> permutation(const Node& transpose, size_t rank) {
  std::vector<int64_t> reversed(rank);
  for (size_t i = 0; i < rank; ++i) reversed[i] = int64_t(rank - 1 - i);
  return transpose.attrs.integers("perm", std::move(reversed));
}

}  // namespace sx::passes
