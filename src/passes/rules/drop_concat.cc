// SPDX-License-Identifier: Apache-2.0
// Concat of one, and a sum, product, minimum or maximum of one.
#include "passes/rule.h"

namespace sx::passes {

Rule drop_concat() {
  return rule({"Concat", "Sum", "Min", "Max", "Mean"}, [](Graph& g, NodeId n) -> Patch {
    if (g.node(n).inputs.size() != 1) return {};
    return Patch::with(g.node(n).outputs[0], g.node(n).inputs[0]);
  });
}

}  // namespace sx::passes
