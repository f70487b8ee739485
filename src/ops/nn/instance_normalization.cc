// SPDX-License-Identifier: Apache-2.0
// InstanceNormalization: each channel of each sample brought to mean 0 and variance 1, then scaled and
// shifted.
#include "graph/op.h"
#include "ops/common/channel_norm.h"
#include "ops/common/legacy.h"

namespace sx::ops::instance_normalization {

static Status eval(Eval& e) { return eval_channel_norm(e, e.in(0).dims()[1]); }

extern const Op op = {
    .name = "InstanceNormalization",
    .in = {{"input", "T"}, {"scale", "T"}, {"B", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_float("epsilon", 1e-5f)},
    .infer = infer_channel_norm,
    .eval = eval,
    .history = {{.since = 22},
                {.since = 6, .types = {{"T", kOldFloats}}},
                {.since = 1,
                 .attrs = {{kConsumedInputs, attr_float("epsilon", 1e-5f)}},
                 .lift = lift_consumed_inputs}},
};

}  // namespace sx::ops::instance_normalization
