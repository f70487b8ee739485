// SPDX-License-Identifier: Apache-2.0
// Dropout outside training is its input. The mask, if somebody reads it, keeps the node.
#include "passes/rule.h"

namespace sx::passes {

Rule drop_dropout() {
  return rule({"Dropout"}, [](Graph& g, NodeId n) -> Patch {
    const Node& node = g.node(n);
    if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
      const Tensor* training = constant_of(g, node.inputs[2]);
      if (!training || training->type() != DType::boolean || training->as<uint8_t>()[0] != 0) return {};
    }
    // Sizes that only a run tells may be wrong: then the node stays and is asked.
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != kNoValue && !shape_of(g, node.inputs[i]).is_constant()) return {};
    }
    if (node.outputs.size() > 1 && node.outputs[1] != kNoValue && g.use_count(node.outputs[1]) > 0) return {};
    return Patch::with(node.outputs[0], node.inputs[0]);
  });
}

}  // namespace sx::passes
