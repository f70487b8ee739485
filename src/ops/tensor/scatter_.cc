// SPDX-License-Identifier: Apache-2.0
// Scatter: the first name of ScatterElements, taken away in opset 11.
#include "graph/lift.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::scatter_ {

static Status lift(Lift& l) {
  l.set_type("ScatterElements");
  return {};
}

extern const Op op = {
    .name = "Scatter",
    .in = {{"data", "T"}, {"indices", "Tind"}, {"updates", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kOldAll}, {"Tind", kIndices}},
    .attrs = {attr_int("axis", 0)},
    .infer = infer_same,
    .history = {{.since = 11, .removed = true}, {.since = 9, .lift = lift}},
};

}  // namespace sx::ops::scatter_
