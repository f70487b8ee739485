// SPDX-License-Identifier: Apache-2.0
// HannWindow: ½ - ½·cos(2πn/N).
#include "ops/signal/window.h"

namespace sx::ops::hann_window {

static Status eval(Eval& e) { return fill_window(e, 0.5, 0.5, 0); }

extern const Op op = {
    .name = "HannWindow",
    .in = {{"size", "T1"}},
    .out = {{"output", "T2"}},
    .types = {{"T1", kIndices}, {"T2", kNumbers}},
    .attrs = {kOutputDatatype, kPeriodic},
    .infer = infer_window,
    .eval = eval,
    .history = {{.since = 17}},
};

}  // namespace sx::ops::hann_window
