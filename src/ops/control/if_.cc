// SPDX-License-Identifier: Apache-2.0
// If: one of two bodies runs; both see the values around them.
#include "ops/control/flow.h"
#include "ops/engine/codec.h"

namespace sx::ops::if_ {

static Status infer(Infer& i) {
  if (!i.infer_body) return {};
  SX_ASSIGN(const std::vector<Type> yes, i.infer_body(body_of(i.attrs(), "then_branch"), {}));
  SX_ASSIGN(const std::vector<Type> no, i.infer_body(body_of(i.attrs(), "else_branch"), {}));
  if (yes.size() < i.outputs() || no.size() < i.outputs()) {
    return i.fail("expects {} outputs of each branch; then_branch has {}, else_branch {}", i.outputs(),
                  yes.size(), no.size());
  }
  const Tensor* cond = i.constant(0);
  for (size_t k = 0; k < i.outputs(); ++k) {
    SX_ASSIGN(Type t, common_type(i, yes[k], no[k], format("output {}", k)));
    if (cond && cond->count() == 1) t = number_at<uint64_t>(*cond) ? yes[k] : no[k];
    i.out(k) = std::move(t);
  }
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(const bool cond, truth_of(e.value(0), "cond"));
  SX_ASSIGN(std::vector<Value> found, e.run_body(e.body(cond ? "then_branch" : "else_branch"), {}));
  if (found.size() < e.outputs())
    return e.fail("the branch gave {} outputs of {}", found.size(), e.outputs());
  for (size_t k = 0; k < e.outputs(); ++k) e.set(k, std::move(found[k]));
  return {};
}

extern const Op op = {
    .name = "If",
    .in = {{"cond", "B"}},
    .out = {{"outputs", "V", kVariadic | kHeterogeneous}},
    .types = {{"V", flow_types(kAll25)}, {"B", kBool}},
    .attrs = {required_attr("else_branch", AttrKind::graph), required_attr("then_branch", AttrKind::graph)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 25},
                {.since = 24, .types = {{"V", flow_types(kAll24)}}},
                {.since = 23, .types = {{"V", flow_types(kAll23)}}},
                {.since = 21, .types = {{"V", flow_types(kAll21)}}},
                {.since = 19, .types = {{"V", flow_types(kAll19)}}},
                {.since = 16, .types = {{"V", flow_types(kAll13)}}},
                {.since = 13, .types = {{"V", with_sequences(kOldAll)}}},
                {.since = 11, .types = {{"V", kOldAll}}},
                {.since = 1}},
    .control_flow = true,
};

}  // namespace sx::ops::if_
