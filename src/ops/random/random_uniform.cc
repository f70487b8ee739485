// SPDX-License-Identifier: Apache-2.0
// RandomUniform: evenly distributed numbers in a given shape.
#include "ops/random/dice.h"

namespace sx::ops::random_uniform {

extern const Op op = {
    .name = "RandomUniform",
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_int("dtype", 1), attr_float("high", 1), attr_float("low", 0), kSeed,
              required_attr("shape", AttrKind::integers)},
    .infer = infer_shaped,
    .eval = fill_uniform,
    .history = {{.since = 22}, {.since = 1, .types = {{"T", kOldFloats}}}},
    .pure = false,
};

}  // namespace sx::ops::random_uniform
