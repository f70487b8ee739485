// SPDX-License-Identifier: Apache-2.0
// Inference over a node and over a whole graph.
#pragma once
#include <vector>

#include "base/function_ref.h"
#include "graph/graph.h"

namespace sx {

// Runs the record's inference; writes types, elements and guards of the outputs. An inferred type that
// contradicts what the value already has is an error, but inferred sizes are taken: what a file declares may
// be stale. A less exact type never overwrites a more exact one.
Status infer_node(Graph& graph, NodeId node);
Status infer_body(Graph& graph, BodyId body);
Status infer_graph(Graph& graph);
// The same from the main body's inputs alone: whatever was known of other values is forgotten.
Status infer_anew(Graph& graph);
// The types of a node's outputs where values have the sizes that `dims` finds (null: as they are known). It
// only reads `graph`, so that several threads may ask.
Result<std::vector<Type>> infer_given(const Graph& graph, NodeId node,
                                      FunctionRef<const Dims*(ValueId)> dims);

// Inside a branch of an If. Sizes that cannot be right there say that it is never taken, not that the model
// is wrong; a run that takes it reports them.
bool in_branch(const Graph& graph, BodyId body);

}  // namespace sx
