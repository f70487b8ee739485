// SPDX-License-Identifier: Apache-2.0
// The product of two matrices plus a constant row is Gemm.
#include "passes/rule.h"

namespace sx::passes {
namespace {

bool is_matrix(const Graph& g, ValueId v) { return shape_of(g, v).known && shape_of(g, v).rank() == 2; }

Patch fuse(Graph& g, NodeId n) {
  for (size_t side = 0; side < 2; ++side) {
    const Node& add = g.node(n);
    const Node* product = producer(g, add.inputs[side], "MatMul");
    const Tensor* row = constant_of(g, add.inputs[1 - side]);
    if (!product || !row || !used_once(g, add.inputs[side])) continue;
    const ValueId a = product->inputs[0], b = product->inputs[1], c = add.inputs[1 - side],
                  y = add.outputs[0];
    if (!is_matrix(g, a) || !is_matrix(g, b) || !dtype_is_float(elem_of(g, a))) continue;
    const Dim width = shape_of(g, b).dims[1];
    const bool fits = row->count() == 1
                          ? row->rank() <= 2
                          : row->rank() >= 1 && row->rank() <= 2 && width.is_constant(row->count()) &&
                                row->dims().back() == row->count();
    if (!fits) continue;
    const NodeId product_id = g.value(add.inputs[side]).producer;
    Patch patch = Patch::with(y, Builder(g, add.body, n).op("Gemm", {a, b, c}));
    patch.matched = {product_id, n};
    return patch;
  }
  return {};
}

}  // namespace

Rule fuse_gemm() { return rule({"Add"}, fuse); }

}  // namespace sx::passes
