// SPDX-License-Identifier: Apache-2.0
// sx.Reorder: the same logical values in another layout: the only operator that changes a layout. Evaluation
// sees logical values alone, so here it is the identity.
#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"

namespace sx::ops::reorder {

static Status eval(Eval& e) {
  e.set(0, e.value(0));
  return {};
}

extern const Op op = {
    .name = "Reorder",
    .domain = "sx",
    .in = {{"x", "T"}},
    .out = {{"y", "T"}},
    .types = {{"T", kAll28}},
    .attrs = {attr_text("from", "plain"), attr_text("to", "plain")},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::reorder
