// SPDX-License-Identifier: Apache-2.0
// x · clip(x / 6 + ½, 0, 1), in its spellings, is HardSwish(x).
#include "passes/pattern.h"

namespace sx::passes {

Rule fuse_hard_swish() {
  const Expr x = any("x");
  const Expr by_sigmoid = op("HardSigmoid", {x}).with("alpha", 1.0f / 6).with("beta", 0.5f);
  const Expr by_clip = op("Clip", {x + 3.0, 0.0, 6.0});
  return rewrite(x * by_sigmoid).to(op("HardSwish", {x})) |
         rewrite(x * by_clip / 6.0).to(op("HardSwish", {x}));
}

}  // namespace sx::passes
