// SPDX-License-Identifier: Apache-2.0
// Compiled: a graph placed on some providers, with its programs. A session has one for all sizes, and, where
// sizes decide what runs (a branch on a batch of one, a rank that depends on a dimension), one more for each
// set of input sizes.
#pragma once
#include <memory>
#include <vector>

#include "base/log.h"
#include "runtime/program.h"

namespace sx {

struct Compiled {
  Graph graph;
  Placement placement;
  Machine machine;
  std::unique_ptr<Program> program;
};

struct CompileSettings {
  std::vector<Provider*> providers;  // best first; the last takes everything
  WeightStore* weights = nullptr;
  Parallel* parallel = nullptr;
  size_t most_plans = 16;
  bool profile = false;
  std::shared_ptr<MemoryBudget> memory;
};

Result<std::unique_ptr<Compiled>> compile_graph(Graph graph, const CompileSettings& settings);

// How many values have sizes, or even ranks, that this program learns only during the run.
size_t late_values(const Program& program);

// The graph with a symbol of its own for every dimension of its inputs that is not a number, whatever the
// names are; inferred anew.
Result<Graph> with_own_names(const Graph& graph);
// A symbol that inputs of these types and sizes bind to two sizes, as a sentence; empty: there is none.
std::string contradiction(const Graph& graph, std::span<const Dims> sizes);

// The graph with its inputs' sizes fixed: inferred and optimised anew.
Result<Graph> with_input_sizes(const Graph& graph, std::span<const Dims> sizes, const Log& log);

}  // namespace sx
