// SPDX-License-Identifier: Apache-2.0
// What the evaluation of a node would cost, from sizes and attributes alone.
#pragma once
#include "graph/graph.h"

namespace sx::passes {

// Elements that are looked at or made. `out` is the number of elements of the outputs; all inputs are
// constants.
double work_of(const Graph& graph, NodeId node, double out);

}  // namespace sx::passes
