// SPDX-License-Identifier: Apache-2.0
// Identity(x) is x.
#include "passes/rule.h"

namespace sx::passes {

Rule drop_identity() {
  return rule({"Identity"},
              [](Graph& g, NodeId n) { return Patch::with(g.node(n).outputs[0], g.node(n).inputs[0]); });
}

}  // namespace sx::passes
