// SPDX-License-Identifier: Apache-2.0
// x + 0, x - 0, x * 1, x / 1, x ^ 1, x and true, x or false are x.
#include "passes/rule.h"

namespace sx::passes {
namespace {

struct Neutral {
  std::string_view op;
  double element;
  bool commutes;
};
constexpr Neutral kNeutral[] = {{"Add", 0, true},  {"Sub", 0, false}, {"Mul", 1, true}, {"Div", 1, false},
                                {"Pow", 1, false}, {"And", 1, true},  {"Or", 0, true}};

Patch drop(Graph& g, NodeId n) {
  const Node& node = g.node(n);
  for (const Neutral& neutral : kNeutral) {
    if (node.type != neutral.op) continue;
    for (size_t i = neutral.commutes ? 0 : 1; i < 2; ++i) {
      double number = 0;
      const ValueId x = node.inputs[1 - i];
      if (one_number(g, node.inputs[i], number) && number == neutral.element &&
          same_shape(g, x, node.outputs[0])) {
        return Patch::with(node.outputs[0], x);
      }
    }
  }
  return {};
}

}  // namespace

Rule drop_arithmetic() { return rule({"Add", "Sub", "Mul", "Div", "Pow", "And", "Or"}, drop); }

}  // namespace sx::passes
