// SPDX-License-Identifier: Apache-2.0
// RandomNormalLike: normally distributed numbers in the shape of the input.
#include "ops/random/dice.h"

namespace sx::ops::random_normal_like {

extern const Op op = {
    .name = "RandomNormalLike",
    .in = {{"input", "T1"}},
    .out = {{"output", "T2"}},
    .types = {{"T1", kAll13}, {"T2", kFloats}},
    .attrs = {optional_attr("dtype", AttrKind::integer), attr_float("mean", 0), attr_float("scale", 1),
              kSeed},
    .infer = infer_like,
    .eval = fill_normal,
    .history = {{.since = 22}, {.since = 1, .types = {{"T1", kOldAll}, {"T2", kOldFloats}}}},
    .pure = false,
};

}  // namespace sx::ops::random_normal_like
