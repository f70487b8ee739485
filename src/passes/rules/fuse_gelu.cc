// SPDX-License-Identifier: Apache-2.0
// x · ½ · (1 + erf(x / √2)), as exporters spell it, is Gelu(x); so is its approximation by tanh.
#include <cmath>

#include "passes/pattern.h"

namespace sx::passes {

Rule fuse_gelu() {
  const Expr x = any("x");
  Rule exact = rewrite(x * 0.5 * (1.0 + erf(x / std::sqrt(2.0)))).to(gelu(x));
  Rule by_tanh;
  for (const Expr& cube : {pow(x, 3.0), x * x * x}) {
    const Expr inner = tanh((x + cube * 0.044715) * std::sqrt(2.0 / M_PI));
    by_tanh |= rewrite(x * 0.5 * (1.0 + inner)).to(gelu(x).with("approximate", std::string("tanh")));
  }
  return exact | by_tanh;
}

}  // namespace sx::passes
