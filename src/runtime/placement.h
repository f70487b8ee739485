// SPDX-License-Identifier: Apache-2.0
// Placement: who runs each node, which nodes were fused into groups, and how each value lies in memory.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "runtime/provider.h"

namespace sx {

struct ClaimNote {
  std::string provider;
  bool yes = false;
  std::string reason;
};

struct Placement {
  std::vector<Provider*> providers;           // best first; the last takes everything
  std::vector<int> provider_of;               // by node; -1: the runtime itself (control flow)
  std::vector<std::vector<ClaimNote>> notes;  // by node, for explain
  std::vector<Layout> layout_of;              // by value

  Provider* provider(NodeId n) const {
    return n < provider_of.size() && provider_of[n] >= 0 ? providers[provider_of[n]] : nullptr;
  }
  int owner(const Layout& layout) const;  // of a layout of kind provider: index into providers
  Layout layout(ValueId v) const { return v < layout_of.size() ? layout_of[v] : Layout(); }
  void grow(const Graph& graph);  // after nodes or values were added
};

// Asks each provider in order; control flow stays with the runtime. All nodes that nobody takes are named at
// once.
Status claim_nodes(const Graph& graph, Placement& placement);
// Grows groups along single uses and replaces them by Group nodes.
Status fuse_groups(Graph& graph, Placement& placement);
// Chooses among the providers' offers at least total cost and inserts Reorder nodes where layouts meet.
Status assign_layouts(Graph& graph, Placement& placement);

bool is_group_body(const Graph& graph, BodyId body);

}  // namespace sx
