// SPDX-License-Identifier: Apache-2.0
// The steps of optimize() that are not rules.
#pragma once
#include <unordered_set>

#include "base/cancel.h"
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
  Folder(Graph& graph, const OptimizeOptions& options, const Record& record);
  Result<size_t> run();  // nodes with constant inputs, and integer values whose elements are all numbers

 private:
  struct Cost {
    size_t bytes = 0;  // that it makes
    double work = 0;
  };
  bool try_elements(NodeId node);
  bool try_node(NodeId node);
  bool worth(NodeId node, Cost& cost) const;
  bool strings_stay_short(const Node& node, double out) const;

  Graph& g_;
  const OptimizeOptions& options_;
  const Record& record_;
  std::unordered_set<NodeId> given_up_;  // evaluation failed: the run will say why, if it comes to that
  // What all folds of this graph may still cost.
  double bytes_left_, work_left_;
  Cancel::Clock::duration time_left_;
};

size_t inline_branches(Graph& graph, const Record& record);  // If with a constant condition
size_t share_equal(Graph& graph, const Record& record);      // equal constants, equal nodes
Result<size_t> apply_rules(Graph& graph, const OptimizeOptions& options, const Record& record);

std::string node_text(const Graph& graph, NodeId node);  // "y = Mul(x, c)"

}  // namespace sx::passes
