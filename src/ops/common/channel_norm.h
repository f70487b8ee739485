// SPDX-License-Identifier: Apache-2.0
// Normalisation of groups of channels of [N, C, spatial…]: InstanceNormalization (a group a channel),
// GroupNormalization.
#pragma once
#include "graph/eval.h"
#include "graph/infer.h"

namespace sx::ops {

// Output 0 is like X; inputs 1 and 2 have one number a channel.
Status infer_channel_norm(Infer& i);
// Mean and variance over each group of C / groups channels; scale and bias (inputs 1 and 2) a channel.
Status eval_channel_norm(Eval& e, int64_t groups);

}  // namespace sx::ops
