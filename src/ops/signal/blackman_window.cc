// SPDX-License-Identifier: Apache-2.0
// BlackmanWindow: 0.42 - ½·cos(2πn/N) + 0.08·cos(4πn/N).
#include "ops/signal/window.h"

namespace sx::ops::blackman_window {

static Status eval(Eval& e) { return fill_window(e, 0.42, 0.5, 0.08); }

extern const Op op = {
    .name = "BlackmanWindow",
    .in = {{"size", "T1"}},
    .out = {{"output", "T2"}},
    .types = {{"T1", kIndices}, {"T2", kNumbers}},
    .attrs = {kOutputDatatype, kPeriodic},
    .infer = infer_window,
    .eval = eval,
    .history = {{.since = 17}},
};

}  // namespace sx::ops::blackman_window
