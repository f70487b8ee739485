// SPDX-License-Identifier: Apache-2.0
// SequenceMap: a body runs on each element of a sequence; further sequences go along, tensors stay the same.
#include "base/cancel.h"
#include "ops/control/flow.h"

namespace sx::ops::sequence_map {

static Status infer(Infer& i) {
  if (!i.infer_body) return {};
  std::vector<Type> types;
  for (size_t k = 0; k < i.inputs(); ++k) {
    const Type& t = i.in(k);
    types.push_back(t.kind == Value::Kind::sequence && t.inner ? *t.inner : t);
  }
  SX_ASSIGN(const std::vector<Type> found, i.infer_body(body_of(i.attrs(), "body"), types));
  if (found.size() < i.outputs()) {
    return i.fail("the body has {} outputs, the node needs {}", found.size(), i.outputs());
  }
  for (size_t k = 0; k < i.outputs(); ++k) i.out(k) = Type::sequence(outside(i, found[k]));
  return {};
}

static Status eval(Eval& e) {
  const Value& first = e.value(0);
  if (first.kind != Value::Kind::sequence) return e.fail("input_sequence is a {}", kind_name(first.kind));
  const size_t n = first.sequence->items.size();
  std::vector<Value> args(e.inputs());
  for (size_t k = 0; k < e.inputs(); ++k) {
    const Value& v = e.value(k);
    if (v.kind == Value::Kind::sequence && v.sequence->items.size() != n) {
      return e.fail("input {} has {} elements, input_sequence has {}", k, v.sequence->items.size(), n);
    }
    args[k] = v;
  }
  std::vector<std::vector<Value>> out(e.outputs());
  for (size_t item = 0; item < n; ++item) {
    if (e.cancel) SX_TRY(e.cancel->check());
    for (size_t k = 0; k < e.inputs(); ++k) {
      if (e.value(k).kind == Value::Kind::sequence) args[k] = e.value(k).sequence->items[item];
    }
    SX_ASSIGN(std::vector<Value> found, e.run_body(e.body("body"), args));
    if (found.size() < out.size()) return e.fail("the body gave {} outputs of {}", found.size(), out.size());
    for (size_t k = 0; k < out.size(); ++k) out[k].push_back(std::move(found[k]));
  }
  for (size_t k = 0; k < out.size(); ++k) e.set(k, Value::of_sequence(std::move(out[k])));
  return {};
}

extern const Op op = {
    .name = "SequenceMap",
    .in = {{"input_sequence", "S"}, {"additional_inputs", "V", kVariadic | kHeterogeneous, 0}},
    .out = {{"out_sequence", "S", kVariadic | kHeterogeneous}},
    .types = {{"S", sequence_types(kOldAll)}, {"V", with_sequences(kOldAll)}},
    .attrs = {required_attr("body", AttrKind::graph)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 17}},
    .control_flow = true,
};

}  // namespace sx::ops::sequence_map
