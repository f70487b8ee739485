// SPDX-License-Identifier: Apache-2.0
// Gelu: x * Φ(x); approximate = "tanh" is the cubic formula.
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::gelu {

static Status infer(Infer& i) {
  const std::string approximate = i.text("approximate");
  if (approximate != "none" && approximate != "tanh") {
    return i.fail("approximate is '{}', expected none or tanh", approximate);
  }
  return infer_same(i);
}

static Status eval(Eval& e) {
  if (e.text("approximate") == "tanh") {
    return map1<kFloatClasses>(e, [](auto x) {
      using T = decltype(x);
      // The standard's function body has 2/pi and the factor of x³ as float32 constants, whatever the type of
      // x.
      const T inner = std::sqrt(T(0.63661977236758134308f)) * (x + T(0.044715f) * x * x * x);
      return T(0.5) * x * (1 + std::tanh(inner));
    });
  }
  return map1<kFloatClasses>(e, [](auto x) {
    using T = decltype(x);
    return T(0.5) * x *
           std::erfc(x * T(-0.70710678118654752440));  // exact in the left tail, where 1 + erf is not
  });
}

extern const Op op = {
    .name = "Gelu",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_text("approximate", "none")},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 20}},
};

}  // namespace sx::ops::gelu
