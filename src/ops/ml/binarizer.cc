// SPDX-License-Identifier: Apache-2.0
// Binarizer: 1 where x is above the threshold, else 0.
#include "ops/engine/map.h"
#include "ops/ml/columns.h"

namespace sx::ops::binarizer {

static Status eval(Eval& e) {
  const double threshold = e.floating("threshold");
  return map1_as<double>(e, e.in(0), e.out(0), [=](double x) { return x > threshold ? 1.0 : 0.0; });
}

extern const Op op = {
    .name = "Binarizer",
    .domain = kMl,
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kMlNumbers}},
    .attrs = {attr_float("threshold", 0)},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::binarizer
