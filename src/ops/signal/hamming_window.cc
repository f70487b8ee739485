// SPDX-License-Identifier: Apache-2.0
// HammingWindow: 25/46 - 21/46·cos(2πn/N).
#include "ops/signal/window.h"

namespace sx::ops::hamming_window {

static Status eval(Eval& e) { return fill_window(e, 25.0 / 46, 21.0 / 46, 0); }

extern const Op op = {
    .name = "HammingWindow",
    .in = {{"size", "T1"}},
    .out = {{"output", "T2"}},
    .types = {{"T1", kIndices}, {"T2", kNumbers}},
    .attrs = {kOutputDatatype, kPeriodic},
    .infer = infer_window,
    .eval = eval,
    .history = {{.since = 17}},
};

}  // namespace sx::ops::hamming_window
