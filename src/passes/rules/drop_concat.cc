// SPDX-License-Identifier: Apache-2.0
// Concat of one, and a sum, product, minimum or maximum of one.
#include "passes/rule.h"

namespace sx::passes {

Rule drop_concat() {
  return rule({"Concat", "Sum", "Min", "Max", "Mean"}, [](Graph& g, NodeId n) -> Patch {
    const Node& node = g.node(n);
    if (node.inputs.size() != 1) return {};
    // An axis is wrong or right for a rank.
    if (node.type == "Concat" && !shape_of(g, node.inputs[0]).known) return {};
    return Patch::with(node.outputs[0], node.inputs[0]);
  });
}

}  // namespace sx::passes
