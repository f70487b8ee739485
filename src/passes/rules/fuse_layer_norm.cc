// SPDX-License-Identifier: Apache-2.0
// (x - mean) / √(mean((x - mean)²) + ε) · w + b, written out, is LayerNormalization(x, w, b). The bias is
// taken in a second step, so that a normalization without one is found too.
#include "passes/norm.h"
#include "passes/pattern.h"

namespace sx::passes {
namespace {

Patch add_bias(Graph& g, NodeId n) {
  for (size_t side = 0; side < 2; ++side) {
    const Node& add = g.node(n);
    const Node* norm = producer(g, add.inputs[side], "LayerNormalization");
    const ValueId b = add.inputs[1 - side], y = add.outputs[0];
    if (!norm || norm->inputs.size() > 2 || !constant_of(g, b) || !used_once(g, add.inputs[side])) continue;
    if (norm->outputs.size() > 1 || shape_of(g, b) != shape_of(g, norm->inputs[1])) continue;
    const std::vector<ValueId> inputs = {norm->inputs[0], norm->inputs[1], b};
    const Attrs attrs = norm->attrs;
    const NodeId norm_id = g.value(add.inputs[side]).producer;
    Patch patch = Patch::with(y, Builder(g, add.body, n).op("LayerNormalization", inputs, attrs));
    patch.matched = {norm_id, n};
    return patch;
  }
  return {};
}

}  // namespace

Rule fuse_layer_norm() {
  const Expr x = any("x"), w = weight("w"), b = weight("b");
  const Expr mean = op("ReduceMean", {x}).as("mean"), centred = x - mean;
  Rule all = rule({"Add"}, add_bias);
  for (const Expr& square : {pow(centred, 2.0), centred * centred}) {
    const Expr deviation = sqrt(op("ReduceMean", {square}).as("variance") + scalar("epsilon"));
    for (const Expr& normal : {centred / deviation, centred * op("Reciprocal", {deviation})}) {
      all |= rewrite(normal * w).to([](Builder& builder, const Match& m) -> ValueId {
        size_t axis = 0;
        if (!normal_axis(m, {"mean", "variance"}, {"w"}, axis)) return kNoValue;
        return builder.op("LayerNormalization", {m["x"], m["w"]}, norm_attrs(m, axis));
      });
    }
    // TensorFlow multiplies out: x·f + (b - mean·f).
    const Expr factor = (op("Reciprocal", {deviation}) * w).as("factor");
    all |= rewrite(x * factor + (b - mean * factor)).to([](Builder& builder, const Match& m) -> ValueId {
      size_t axis = 0;
      if (!normal_axis(m, {"mean", "variance"}, {"w", "b"}, axis)) return kNoValue;
      return builder.op("LayerNormalization", {m["x"], m["w"], m["b"]}, norm_attrs(m, axis));
    });
  }
  return all;
}

}  // namespace sx::passes
