// SPDX-License-Identifier: Apache-2.0
// BodyBuilder: an operator written in other operators: formulas over values. Builder: the same vocabulary
// where rules and lifts make nodes.
#pragma once
#include <initializer_list>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace sx {

// Finds an operator's record by name; src/ops provides it, src/graph only declares it.
const Op* find_op(std::string_view domain, std::string_view name);

class Builder {
 public:
  Builder(Graph& graph, BodyId body, NodeId before = kNoNode) : graph_(graph), body_(body), before_(before) {}
  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  BodyId body() const { return body_; }

  ValueId constant(Tensor t) { return graph_.add_constant(body_, Value(std::move(t))); }
  ValueId ints(std::span<const int64_t> v) { return constant(Tensor::vector_i64(v)); }
  ValueId ints(std::initializer_list<int64_t> v) { return ints(std::span(v.begin(), v.size())); }
  ValueId scalar(int64_t v) { return constant(Tensor::scalar_i64(v)); }
  ValueId op(std::string_view name, std::vector<ValueId> inputs, Attrs attrs = {},
             std::string_view domain = "");
  std::vector<ValueId> ops(std::string_view name, std::vector<ValueId> inputs, Attrs attrs, size_t outputs,
                           std::string_view domain = "");
  NodeId last() const { return last_; }
  // The first thing that went wrong: an operator that is not there, inputs that do not fit it.
  const Status& status() const { return status_; }
  void set_origin(std::string_view origin) { origin_ = origin; }  // for every node made from now on

 private:
  Graph& graph_;
  BodyId body_;
  NodeId before_;
  NodeId last_ = kNoNode;
  std::string origin_;
  Status status_;
};

// A scalar of a numeric element type; empty for strings and types narrower than a byte.
Tensor scalar_of(DType type, double value);

// `now` stands where `old` stood, in nodes and as a body's output. An output of the main body keeps its name:
// a copy is made where `now` already has a name that users know (an input, a constant, another output).
void substitute(Graph& graph, ValueId old, ValueId now);

// For Op::body: the node's inputs and attributes, and where the outputs go.
class BodyBuilder : public Builder {
 public:
  BodyBuilder(Graph& graph, NodeId node);
  size_t inputs() const;
  bool has(size_t i) const;
  ValueId in(size_t i) const;
  const Type& type(size_t i) const;
  const Attrs& attrs() const;
  int64_t integer(std::string_view name) const;  // with the record's defaults
  float floating(std::string_view name) const;
  std::string text(std::string_view name) const;
  ValueId like(double value, ValueId v);  // a scalar constant of v's element type (known when bodies expand)
  void set(size_t output, ValueId v);
  const std::vector<ValueId>& results() const { return results_; }

 private:
  NodeId node_;
  std::vector<ValueId> results_;
};

}  // namespace sx
