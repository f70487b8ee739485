// SPDX-License-Identifier: Apache-2.0
// sx.Refusal: stands for a node of a branch that inference has found wrong. The branch may never run; if it
// does, this is the answer, whatever a rule or a provider would have made of the node. `of` describes the
// node.
#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/private/any_type.h"

namespace sx::ops::refusal {

static Status infer(Infer& i) { return Status(Code::invalid_model, i.text("why")); }
static Status eval(Eval& e) { return Status(Code::invalid_model, e.text("why")); }

extern const Op op = {
    .name = "Refusal",
    .domain = "sx",
    .in = {{"inputs", "V", kVariadic | kHeterogeneous, 0}},
    .out = {{"outputs", "V", kVariadic | kHeterogeneous}},
    .types = {{"V", any_type()}},
    .attrs = {required_attr("of", AttrKind::text), required_attr("why", AttrKind::text)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::refusal
