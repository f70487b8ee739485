// SPDX-License-Identifier: Apache-2.0
// A Slice that takes everything, forwards, is its input.
#include <algorithm>

#include "passes/rule.h"

namespace sx::passes {

Rule drop_slice() {
  return rule({"Slice"}, [](Graph& g, NodeId n) -> Patch {
    const Node& node = g.node(n);
    if (!shape_is_computed(g, node) || !same_shape(g, node.inputs[0], node.outputs[0])) return {};
    if (node.inputs.size() > 4 && node.inputs[4] != kNoValue) {
      std::vector<int64_t> steps;
      if (!constant_ints(g, node.inputs[4], steps)) return {};
      if (std::any_of(steps.begin(), steps.end(), [](int64_t s) { return s != 1; })) return {};
    }
    return Patch::with(node.outputs[0], node.inputs[0]);
  });
}

}  // namespace sx::passes
