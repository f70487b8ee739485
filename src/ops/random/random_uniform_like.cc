// SPDX-License-Identifier: Apache-2.0
// RandomUniformLike: evenly distributed numbers in the shape of the input.
#include "ops/random/dice.h"

namespace sx::ops::random_uniform_like {

extern const Op op = {
    .name = "RandomUniformLike",
    .in = {{"input", "T1"}},
    .out = {{"output", "T2"}},
    .types = {{"T1", kAll13}, {"T2", kFloats}},
    .attrs = {optional_attr("dtype", AttrKind::integer), attr_float("high", 1), attr_float("low", 0), kSeed},
    .infer = infer_like,
    .eval = fill_uniform,
    .history = {{.since = 22}, {.since = 1, .types = {{"T1", kOldAll}, {"T2", kOldFloats}}}},
    .pure = false,
};

}  // namespace sx::ops::random_uniform_like
