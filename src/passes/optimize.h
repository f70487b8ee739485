// SPDX-License-Identifier: Apache-2.0
// optimize: a graph of the same meaning that takes less to run. Folding, sharing, removal of what is not
// needed, and the rewrite rules of rules/, until nothing changes any more.
//
// A contract with whoever runs the graph: an integer value with `elements` (graph/graph.h) is known as soon
// as the input sizes are, so its producers need not run: the sizes' own arithmetic gives it. Passes leave
// such values in place, with the nodes that spell them out, so that a saved graph is whole.
#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "graph/graph.h"

namespace sx::passes {

struct Applied {
  std::string rule;    // "fuse_gelu", "fold", "share", "inline_branch"
  std::string node;    // "node 'act' (Mul, opset 17)"
  std::string before;  // the nodes that were matched, one a line
  std::string after;
};

struct OptimizeOptions {
  Log log;
  std::vector<std::string>* applied = nullptr;  // one sentence for each rewrite
  std::vector<Applied>* details = nullptr;
  std::vector<std::string> without = {};  // rules that must not fire
  bool verify = false;                    // after every rewrite; debug builds always do
  // A folded result may take this much; larger than its inputs it may only be if it is small.
  size_t fold_bytes = size_t(64) << 20;
  size_t fold_growth = size_t(1) << 20;
  // All folds together may make this many bytes, look at this many elements and take this long, and more
  // where the graph's constants are large. What is left then is done by every run.
  size_t fold_total = size_t(64) << 20;
  double fold_work = 1e8;
  std::chrono::milliseconds fold_time{1000};
};

Status optimize(Graph& graph, const OptimizeOptions& options = {});

std::vector<std::string_view> rule_names();

}  // namespace sx::passes
