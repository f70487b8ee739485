// SPDX-License-Identifier: Apache-2.0
// If: one of two bodies runs; both see the values around them.
#include "ops/control/flow.h"
#include "ops/engine/codec.h"

namespace sx::ops::if_ {

static Status infer(Infer& i) {
  if (!i.infer_body) return {};
  const Tensor* cond = i.constant(0);
  const bool decided = cond && cond->count() == 1;
  const bool taken = decided && number_at<uint64_t>(*cond) != 0;
  auto yes = i.infer_body(body_of(i.attrs(), "then_branch"), {});
  auto no = i.infer_body(body_of(i.attrs(), "else_branch"), {});
  // What is wrong in a branch that can never run is no concern of this model.
  if (!yes.ok() && (!decided || taken)) return std::move(yes).status();
  if (!no.ok() && (!decided || !taken)) return std::move(no).status();
  if (decided) (taken ? no : yes) = taken ? *yes : *no;
  if (yes->size() < i.outputs() || no->size() < i.outputs()) {
    return i.fail("expects {} outputs of each branch; then_branch has {}, else_branch {}", i.outputs(),
                  yes->size(), no->size());
  }
  for (size_t k = 0; k < i.outputs(); ++k) {
    SX_ASSIGN(i.out(k), common_type(i, (*yes)[k], (*no)[k], format("output {}", k)));
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
