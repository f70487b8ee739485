// SPDX-License-Identifier: Apache-2.0
// Loop: a body runs until a count or its own condition ends it. Values are carried from turn to turn; scan
// outputs are stacked. Without `cond` the body's condition still counts, as every runtime has it.
#include <limits>

#include "base/cancel.h"
#include "ops/control/flow.h"
#include "ops/engine/codec.h"

namespace sx::ops::loop {

static size_t carried_values(size_t inputs) { return inputs > 2 ? inputs - 2 : 0; }

static Status infer(Infer& i) {
  if (!i.infer_body) return {};
  const size_t carried = carried_values(i.inputs());
  std::vector<Type> types = {Type::tensor(DType::i64, Shape(std::vector<Dim>())),
                             Type::tensor(DType::boolean, Shape(std::vector<Dim>()))};
  for (size_t k = 0; k < carried; ++k) types.push_back(i.in(2 + k));
  SX_ASSIGN(const std::vector<Type> found, infer_turns(i, body_of(i.attrs(), "body"), types, 2, 1, carried));
  if (found.size() < i.outputs() + 1) {
    return i.fail("the body has {} outputs, the node needs {}", found.size(), i.outputs() + 1);
  }
  std::vector<int64_t> trips;
  const bool never = i.has(0) && i.constant_ints(0, trips) && trips.size() == 1 && trips[0] <= 0;
  for (size_t k = 0; k < i.outputs(); ++k) {
    if (k < carried) {
      const bool same_kind = types[2 + k].kind == found[1 + k].kind;
      i.out(k) = never ? i.in(2 + k) : outside(i, same_kind ? types[2 + k] : found[1 + k]);
    } else {
      SX_ASSIGN(i.out(k), stacked_type(i, found[1 + k], 0, never ? Dim(0) : i.fresh("turns")));
    }
  }
  return {};
}

static Status eval(Eval& e) {
  const BodyId body = e.body("body");
  const size_t carried = carried_values(e.inputs());
  int64_t trips = std::numeric_limits<int64_t>::max();
  if (e.has(0)) {
    if (e.in(0).count() != 1) return e.fail("M must be one number, found dims {}", to_string(e.in(0).dims()));
    trips = number_at<int64_t>(e.in(0));
  }
  bool go = true;
  if (e.has(1)) {
    SX_ASSIGN(go, truth_of(e.value(1), "cond"));
  }
  std::vector<Value> args(2 + carried);
  for (size_t k = 0; k < carried; ++k) args[2 + k] = e.value(2 + k);
  std::vector<std::vector<Tensor>> scans(e.outputs() > carried ? e.outputs() - carried : 0);

  for (int64_t turn = 0; turn < trips && go; ++turn) {
    if (e.cancel) SX_TRY(e.cancel->check());
    args[0] = Tensor::scalar_i64(turn);
    args[1] = scalar_bool(go);
    SX_ASSIGN(std::vector<Value> found, e.run_body(body, args));
    if (found.size() < 1 + carried + scans.size()) {
      return e.fail("the body gave {} outputs, expected {}", found.size(), 1 + carried + scans.size());
    }
    SX_ASSIGN(go, truth_of(found[0], "the body's condition"));
    for (size_t k = 0; k < carried; ++k) args[2 + k] = std::move(found[1 + k]);
    for (size_t k = 0; k < scans.size(); ++k) scans[k].push_back(std::move(found[1 + carried + k].tensor));
  }

  for (size_t k = 0; k < carried && k < e.outputs(); ++k) e.set(k, std::move(args[2 + k]));
  for (size_t k = 0; k < scans.size(); ++k) {
    SX_ASSIGN(Tensor y, scans[k].empty() ? stacked_nothing(e, carried + k, 0) : stacked(scans[k], 0, false));
    e.set(carried + k, std::move(y));
  }
  return {};
}

extern const Op op = {
    .name = "Loop",
    .in = {{"M", "I", kOptional},
           {"cond", "B", kOptional},
           {"v_initial", "V", kVariadic | kHeterogeneous, 0}},
    .out = {{"v_final_and_scan_outputs", "V", kVariadic | kHeterogeneous}},
    .types = {{"V", flow_types(kAll25)}, {"I", DTypeSet::of(DType::i64)}, {"B", kBool}},
    .attrs = {required_attr("body", AttrKind::graph)},
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
                {.since = 1,
                 .in = {{{"M", "I", kOptional},
                         {"cond", "B", kOptional},
                         {"v_initial", "V", kVariadic | kHeterogeneous, 1}}}}},
    .control_flow = true,
};

}  // namespace sx::ops::loop
