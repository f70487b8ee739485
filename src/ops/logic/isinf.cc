// SPDX-License-Identifier: Apache-2.0
// IsInf: is the element infinite, on the sides that the attributes ask for?
#include <cmath>

#include "ops/common/elementwise.h"

namespace sx::ops::isinf {

static Status infer(Infer& i) {
  i.set_tensor(0, DType::boolean, i.in(0).shape);
  return {};
}

static Status eval(Eval& e) {
  const bool negative = e.integer("detect_negative") != 0, positive = e.integer("detect_positive") != 0;
  return map1<kFloatClasses>(e, [=](auto x) { return std::isinf(x) && (x < 0 ? negative : positive); });
}

extern const Op op = {
    .name = "IsInf",
    .in = {{"X", "T1"}},
    .out = {{"Y", "T2"}},
    .types = {{"T1", kFloats | kFloat8}, {"T2", kBool}},
    .attrs = {attr_int("detect_negative", 1), attr_int("detect_positive", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 20}, {.since = 10, .types = {{"T1", DTypeSet::of(DType::f32, DType::f64)}}}},
};

}  // namespace sx::ops::isinf
