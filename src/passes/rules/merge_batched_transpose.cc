// SPDX-License-Identifier: Apache-2.0
// Leading axes merged, the last two swapped, the leading axes split again: one Transpose. PyTorch's newer
// exporter writes the transposed keys of attention so.
#include "passes/rule.h"

namespace sx::passes {
namespace {

bool swaps_last_two(const Graph& g, ValueId x, const Node& inner, const Node& transpose, ValueId y) {
  const Shape &from = shape_of(g, x), &merged = shape_of(g, inner.outputs[0]), &to = shape_of(g, y);
  if (!from.known || !merged.known || !to.known) return false;
  const size_t rank = from.rank();
  if (rank < 3 || merged.rank() != 3 || to.rank() != rank) return false;
  if (permutation(transpose, 3) != std::vector<int64_t>{0, 2, 1}) return false;
  if (merged.dims[1] != from.dims[rank - 2] || merged.dims[2] != from.dims[rank - 1]) return false;
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (from.dims[i] != to.dims[i]) return false;
  }
  return to.dims[rank - 2] == from.dims[rank - 1] && to.dims[rank - 1] == from.dims[rank - 2];
}

}  // namespace

Rule merge_batched_transpose() {
  return rule({"Reshape"}, [](Graph& g, NodeId n) -> Patch {
    const Node* transpose = producer(g, g.node(n).inputs[0], "Transpose");
    const Node* inner = transpose ? producer(g, transpose->inputs[0], "Reshape") : nullptr;
    if (!inner) return {};
    const ValueId x = inner->inputs[0], y = g.node(n).outputs[0];
    if (!swaps_last_two(g, x, *inner, *transpose, y)) return {};
    std::vector<int64_t> perm;
    for (size_t i = 0; i < shape_of(g, x).rank(); ++i) perm.push_back(int64_t(i));
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return Patch::with(y, Builder(g, g.node(n).body, n).op("Transpose", {x}, {{"perm", perm}}));
  });
}

}  // namespace sx::passes
