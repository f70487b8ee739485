// SPDX-License-Identifier: Apache-2.0
// IsNaN: is the element not a number?
#include "ops/common/elementwise.h"

namespace sx::ops::isnan {

static Status infer(Infer& i) {
  i.set_tensor(0, DType::boolean, i.in(0).shape);
  return {};
}

static Status eval(Eval& e) {
  return map1<kFloatClasses>(e, [](auto x) { return x != x; });
}

extern const Op op = {
    .name = "IsNaN",
    .in = {{"X", "T1"}},
    .out = {{"Y", "T2"}},
    .types = {{"T1", kFloats | kFloat8}, {"T2", kBool}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 20},
                {.since = 13, .types = {{"T1", kFloats}}},
                {.since = 9, .types = {{"T1", kOldFloats}}}},
};

}  // namespace sx::ops::isnan
