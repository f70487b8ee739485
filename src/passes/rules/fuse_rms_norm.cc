// SPDX-License-Identifier: Apache-2.0
// x / √(mean(x²) + ε) · w, written out, is RMSNormalization(x, w).
#include "passes/norm.h"
#include "passes/pattern.h"

namespace sx::passes {

Rule fuse_rms_norm() {
  const Expr x = any("x"), w = weight("w");
  Rule all;
  for (const Expr& square : {pow(x, 2.0), x * x}) {
    const Expr root = sqrt(op("ReduceMean", {square}).as("mean") + scalar("epsilon"));
    for (const Expr& normal : {x / root, x * op("Reciprocal", {root}), x * (Expr(1.0) / root)}) {
      all |= rewrite(normal * w).to([](Builder& builder, const Match& m) -> ValueId {
        size_t axis = 0;
        if (!normal_axis(m, {"mean"}, {"w"}, axis)) return kNoValue;
        return builder.op("RMSNormalization", {m["x"], m["w"]}, norm_attrs(m, axis));
      });
    }
  }
  return all;
}

}  // namespace sx::passes
