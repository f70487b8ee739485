// SPDX-License-Identifier: Apache-2.0
// RandomNormal: normally distributed numbers in a given shape.
#include "ops/random/dice.h"

namespace sx::ops::random_normal {

extern const Op op = {
    .name = "RandomNormal",
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_int("dtype", 1), attr_float("mean", 0), attr_float("scale", 1), kSeed,
              required_attr("shape", AttrKind::integers)},
    .infer = infer_shaped,
    .eval = fill_normal,
    .history = {{.since = 22}, {.since = 1, .types = {{"T", kOldFloats}}}},
    .pure = false,
};

}  // namespace sx::ops::random_normal
