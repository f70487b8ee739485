// SPDX-License-Identifier: Apache-2.0
// Reshaping to the shape that is already there is nothing; of two reshapes in a row the first is not needed.
#include <algorithm>

#include "passes/rule.h"

namespace sx::passes {
namespace {

// The target must not copy sizes of the value that goes away.
bool target_stands_alone(const Graph& g, const Node& reshape) {
  std::vector<Dim> target;
  if (!elements_of(g, reshape.inputs[1], target)) return false;
  if (reshape.attrs.integer("allowzero", 0) != 0) return true;
  return std::all_of(target.begin(), target.end(),
                     [](Dim d) { return !d.is_constant(0) && (d.is_constant() || always_positive(d)); });
}

// What goes away must have been checked: ranks, sizes or axes that only a run tells may be wrong.
ValueId source(const Graph& g, ValueId v) {
  for (std::string_view op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}) {
    if (const Node* n = producer(g, v, op); n && shape_is_computed(g, *n)) {
      const bool checked = op == "Reshape" || shape_of(g, n->inputs[0]).known;
      return checked ? n->inputs[0] : kNoValue;
    }
  }
  return kNoValue;
}

}  // namespace

Rule drop_reshape() {
  Rule same = rule({"Reshape", "Flatten", "Squeeze"}, [](Graph& g, NodeId n) -> Patch {
    const ValueId x = g.node(n).inputs[0], y = g.node(n).outputs[0];
    // Without axes Squeeze drops whatever turns out to be 1.
    const bool open = g.node(n).type == "Squeeze" && !shape_of(g, x).is_constant();
    if (open || !shape_is_computed(g, g.node(n)) || !same_shape(g, x, y)) return {};
    return Patch::with(y, x);
  });
  Rule twice = rule({"Reshape"}, [](Graph& g, NodeId n) -> Patch {
    const ValueId x = source(g, g.node(n).inputs[0]), y = g.node(n).outputs[0];
    if (x == kNoValue || !target_stands_alone(g, g.node(n))) return {};
    const std::vector<ValueId> inputs = {x, g.node(n).inputs[1]};
    const Attrs attrs = g.node(n).attrs;
    return Patch::with(y, Builder(g, g.node(n).body, n).op("Reshape", inputs, attrs));
  });
  return same | twice;
}

}  // namespace sx::passes
