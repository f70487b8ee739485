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

bool same_count(const Graph& g, ValueId a, ValueId b) {
  const auto count = [](const Shape& shape) {
    Dim all = 1;
    for (Dim d : shape.dims) all = all * d;
    return all;
  };
  const Shape &x = shape_of(g, a), &y = shape_of(g, b);
  return x.known && y.known && count(x) == count(y);
}

// What goes away must have been checked, or what comes after must check it: ranks, sizes or axes that only a
// run tells may be wrong.
ValueId source(const Graph& g, ValueId v, ValueId after) {
  for (std::string_view op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}) {
    const Node* n = producer(g, v, op);
    if (!n || !shape_is_computed(g, *n)) continue;
    const ValueId x = n->inputs[0];
    const bool checked = same_count(g, x, v) || (op == "Reshape" && same_count(g, v, after));
    return checked ? x : kNoValue;
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
    const ValueId y = g.node(n).outputs[0], x = source(g, g.node(n).inputs[0], y);
    if (x == kNoValue || !target_stands_alone(g, g.node(n))) return {};
    const std::vector<ValueId> inputs = {x, g.node(n).inputs[1]};
    const Attrs attrs = g.node(n).attrs;
    return Patch::with(y, Builder(g, g.node(n).body, n).op("Reshape", inputs, attrs));
  });
  return same | twice;
}

}  // namespace sx::passes
