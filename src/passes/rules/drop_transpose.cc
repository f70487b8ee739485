// SPDX-License-Identifier: Apache-2.0
// A Transpose that moves nothing is its input; two in a row are one.
#include "passes/rule.h"

namespace sx::passes {

Rule drop_transpose() {
  Rule nothing = rule({"Transpose"}, [](Graph& g, NodeId n) -> Patch {
    const ValueId x = g.node(n).inputs[0];
    if (!shape_of(g, x).known) return {};
    const auto perm = permutation(g.node(n), shape_of(g, x).rank());
    for (size_t i = 0; i < perm.size(); ++i) {
      if (perm[i] != int64_t(i)) return {};
    }
    return Patch::with(g.node(n).outputs[0], x);
  });
  Rule twice = rule({"Transpose"}, [](Graph& g, NodeId n) -> Patch {
    const Node* first = producer(g, g.node(n).inputs[0], "Transpose");
    if (!first || !shape_of(g, first->inputs[0]).known) return {};
    const ValueId x = first->inputs[0];
    const size_t rank = shape_of(g, x).rank();
    const auto inner = permutation(*first, rank), outer = permutation(g.node(n), rank);
    if (inner.size() != rank || outer.size() != rank) return {};
    std::vector<int64_t> both(rank);
    for (size_t i = 0; i < rank; ++i) both[i] = inner[size_t(outer[i])];
    return Patch::with(g.node(n).outputs[0],
                       Builder(g, g.node(n).body, n).op("Transpose", {x}, {{"perm", both}}));
  });
  return nothing | twice;
}

}  // namespace sx::passes
