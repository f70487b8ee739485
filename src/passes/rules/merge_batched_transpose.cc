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

std::vector<int64_t> swap_of(size_t rank) {
  std::vector<int64_t> perm;
  for (size_t i = 0; i < rank; ++i) perm.push_back(int64_t(i));
  std::swap(perm[rank - 1], perm[rank - 2]);
  return perm;
}

// The last two axes swapped after a Reshape of the others alone, itself after a Transpose: the swap joins
// that one.
Patch swap_before_reshape(Graph& g, NodeId n) {
  const ValueId middle = g.node(n).inputs[0], y = g.node(n).outputs[0];
  const Node* reshape = producer(g, middle, "Reshape");
  const Node* transpose = reshape ? producer(g, reshape->inputs[0], "Transpose") : nullptr;
  std::vector<int64_t> target;
  if (!transpose || !used_once(g, middle) || !constant_ints(g, reshape->inputs[1], target)) return {};
  const Shape &from = shape_of(g, reshape->inputs[0]), &to = shape_of(g, middle);
  if (!from.known || !to.known || from.rank() < 2 || to.rank() < 2) return {};
  const size_t last = to.rank() - 1, inner = from.rank() - 1;
  if (permutation(g.node(n), to.rank()) != swap_of(to.rank()) || target[last] <= 0 || target[last - 1] <= 0)
    return {};
  if (to.dims[last] != from.dims[inner] || to.dims[last - 1] != from.dims[inner - 1]) return {};
  for (size_t i = 0; i + 2 < target.size(); ++i) {
    if (target[i] == 0) return {};
  }
  const ValueId x = transpose->inputs[0];
  std::vector<int64_t> perm = permutation(*transpose, from.rank());
  std::swap(perm[inner], perm[inner - 1]);
  std::swap(target[last], target[last - 1]);
  Builder b(g, g.node(n).body, n);
  return Patch::with(y, b.op("Reshape", {b.op("Transpose", {x}, {{"perm", perm}}), b.ints(target)}));
}

}  // namespace

Rule merge_batched_transpose() {
  Rule around = rule({"Reshape"}, [](Graph& g, NodeId n) -> Patch {
    const Node* transpose = producer(g, g.node(n).inputs[0], "Transpose");
    const Node* inner = transpose ? producer(g, transpose->inputs[0], "Reshape") : nullptr;
    if (!inner) return {};
    const ValueId x = inner->inputs[0], y = g.node(n).outputs[0];
    if (!swaps_last_two(g, x, *inner, *transpose, y)) return {};
    const std::vector<int64_t> perm = swap_of(shape_of(g, x).rank());
    return Patch::with(y, Builder(g, g.node(n).body, n).op("Transpose", {x}, {{"perm", perm}}));
  });
  return around | rule({"Transpose"}, swap_before_reshape);
}

}  // namespace sx::passes
