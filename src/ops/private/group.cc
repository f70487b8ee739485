// SPDX-License-Identifier: Apache-2.0
// sx.Group: nodes that run as one. The body's inputs are the node's inputs in order; nothing is captured.
// `anchor` says which of the body's nodes the others are fused around.
#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/private/any_type.h"

namespace sx::ops::group {

static Status infer(Infer& i) {
  if (!i.infer_body) return {};
  std::vector<Type> types;
  for (size_t k = 0; k < i.inputs(); ++k) types.push_back(i.in(k));
  const BodyRef* body = i.attrs().get<BodyRef>("body");
  SX_ASSIGN(std::vector<Type> found, i.infer_body(body ? body->id : kNoBody, types));
  if (found.size() != i.outputs())
    return i.fail("the body has {} outputs, the node {}", found.size(), i.outputs());
  for (size_t k = 0; k < found.size(); ++k) i.out(k) = std::move(found[k]);
  return {};
}

static Status eval(Eval& e) {
  if (!e.run_body) return e.fail("there is no graph to find the body in");
  SX_ASSIGN(std::vector<Value> found, e.run_body(e.body("body"), e.all_inputs()));
  if (found.size() < e.outputs()) return e.fail("the body gave {} outputs of {}", found.size(), e.outputs());
  for (size_t k = 0; k < e.outputs(); ++k) e.set(k, std::move(found[k]));
  return {};
}

extern const Op op = {
    .name = "Group",
    .domain = "sx",
    .in = {{"inputs", "V", kVariadic | kHeterogeneous, 0}},
    .out = {{"outputs", "V", kVariadic | kHeterogeneous}},
    .types = {{"V", any_type()}},
    .attrs = {required_attr("body", AttrKind::graph), attr_int("anchor", 0)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::group
