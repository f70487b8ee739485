// SPDX-License-Identifier: Apache-2.0
// A Reshape whose target is computed from sizes that inference knows gets a constant target: 0 where the
// input's own size is kept, -1 for the one that is left. The arithmetic before it is no longer needed.
#include "passes/rule.h"

namespace sx::passes {
namespace {

bool settle(const Shape& from, const std::vector<Dim>& target, std::vector<int64_t>& constant) {
  size_t open = 0;
  bool copies = false, new_open = false;
  for (size_t i = 0; i < target.size(); ++i) {
    const Dim d = target[i];
    if (d.is_constant(0)) return false;
    if (d.is_constant()) {
      open += d.constant() == -1;
      constant.push_back(d.constant());
    } else if (from.known && i < from.rank() && from.dims[i] == d) {
      copies = true;
      constant.push_back(0);
    } else {
      ++open;
      new_open = true;
      constant.push_back(-1);
    }
  }
  // Beside a copied size that may be zero, -1 has no answer, where the computed size had one.
  return open <= 1 && !(new_open && copies);
}

}  // namespace

Rule settle_reshape() {
  return rule({"Reshape"}, [](Graph& g, NodeId n) -> Patch {
    const ValueId x = g.node(n).inputs[0], shape = g.node(n).inputs[1];
    std::vector<Dim> target;
    std::vector<int64_t> constant;
    if (constant_of(g, shape) || !elements_of(g, shape, target)) return {};
    if (!settle(shape_of(g, x), target, constant)) return {};
    Builder b(g, g.node(n).body, n);
    return Patch::with(g.node(n).outputs[0], b.op("Reshape", {x, b.ints(constant)}));
  });
}

}  // namespace sx::passes
