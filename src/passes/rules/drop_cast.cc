// SPDX-License-Identifier: Apache-2.0
// A Cast to the type that its input already has is its input.
#include "passes/rule.h"

namespace sx::passes {

Rule drop_cast() {
  return rule({"Cast", "CastLike"}, [](Graph& g, NodeId n) -> Patch {
    const ValueId x = g.node(n).inputs[0], y = g.node(n).outputs[0];
    if (elem_of(g, x) == DType::undefined || elem_of(g, x) != elem_of(g, y)) return {};
    return Patch::with(y, x);
  });
}

}  // namespace sx::passes
