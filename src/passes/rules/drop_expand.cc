// SPDX-License-Identifier: Apache-2.0
// Expand and Tile to the shape that is already there are their input.
#include "passes/rule.h"

namespace sx::passes {

Rule drop_expand() {
  return rule({"Expand", "Tile"}, [](Graph& g, NodeId n) -> Patch {
    const ValueId x = g.node(n).inputs[0], y = g.node(n).outputs[0];
    return shape_is_computed(g, g.node(n)) && same_shape(g, x, y) ? Patch::with(y, x) : Patch();
  });
}

}  // namespace sx::passes
