// SPDX-License-Identifier: Apache-2.0
// ThresholdedRelu: x above alpha, else zero.
#include "ops/common/elementwise.h"

namespace sx::ops::thresholdedrelu {

static Status eval(Eval& e) {
  const float alpha = e.floating("alpha");
  return map1<kFloatClasses>(e, [=](auto x) { return x > alpha ? x : decltype(x)(0); });
}

extern const Op op = {
    .name = "ThresholdedRelu",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_float("alpha", 1.0f)},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 22}, {.since = 10, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::thresholdedrelu
