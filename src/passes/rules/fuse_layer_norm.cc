// SPDX-License-Identifier: Apache-2.0
// (x - mean) / √(mean((x - mean)²) + ε) · w + b, written out, is LayerNormalization(x, w, b).
#include "passes/norm.h"
#include "passes/pattern.h"

namespace sx::passes {

Rule fuse_layer_norm() {
  const Expr x = any("x"), w = weight("w"), b = weight("b");
  const Expr centred = x - op("ReduceMean", {x}).as("mean");
  Rule all;
  for (const Expr& square : {pow(centred, 2.0), centred * centred}) {
    const Expr deviation = sqrt(op("ReduceMean", {square}).as("variance") + scalar("epsilon"));
    for (const Expr& normal : {centred / deviation, centred * op("Reciprocal", {deviation})}) {
      all |= rewrite(normal * w + b).to([](Builder& builder, const Match& m) -> ValueId {
        size_t axis = 0;
        if (!normal_axis(m, {"mean", "variance"}, {"w", "b"}, axis)) return kNoValue;
        return builder.op("LayerNormalization", {m["x"], m["w"], m["b"]}, norm_attrs(m, axis));
      });
    }
  }
  return all;
}

}  // namespace sx::passes
