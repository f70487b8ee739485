// SPDX-License-Identifier: Apache-2.0
// x · sigmoid(x) is Swish(x); x · sigmoid(a · x) is Swish with alpha = a.
#include "passes/pattern.h"

namespace sx::passes {

Rule fuse_swish() {
  const Expr x = any("x");
  Rule plain = rewrite(x * sigmoid(x)).to(op("Swish", {x}));
  Rule scaled = rewrite(x * sigmoid(x * scalar("alpha"))).to([](Builder& b, const Match& m) {
    return b.op("Swish", {m["x"]}, {{"alpha", float(m.number("alpha"))}});
  });
  return plain | scaled;
}

}  // namespace sx::passes
