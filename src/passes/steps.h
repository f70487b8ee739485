// SPDX-License-Identifier: Apache-2.0
// The steps of optimize() that are not rules.
#pragma once
#include <unordered_set>

#include "passes/optimize.h"

namespace sx::passes {

// Writes down what was done.
class Record {
 public:
  explicit Record(const OptimizeOptions& options) : options_(options) {}
  bool wanted() const { return options_.applied || options_.details || options_.log.wants(LogLevel::debug); }
  void add(Applied entry) const;

 private:
  const OptimizeOptions& options_;
};

// Each returns how much it changed.
class Folder {
 public:
  Folder(Graph& graph, const OptimizeOptions& options, const Record& record)
      : g_(graph), options_(options), record_(record) {}
  Result<size_t> run();  // nodes with constant inputs, and integer values whose elements are all numbers

 private:
  bool try_elements(NodeId node);
  bool try_node(NodeId node);
  bool worth(NodeId node) const;

  Graph& g_;
  const OptimizeOptions& options_;
  const Record& record_;
  std::unordered_set<NodeId> given_up_;  // evaluation failed: the run will say why, if it comes to that
};

size_t inline_branches(Graph& graph, const Record& record);  // If with a constant condition
size_t share_equal(Graph& graph, const Record& record);      // equal constants, equal nodes
Result<size_t> apply_rules(Graph& graph, const OptimizeOptions& options, const Record& record);

std::string node_text(const Graph& graph, NodeId node);  // "y = Mul(x, c)"

}  // namespace sx::passes
