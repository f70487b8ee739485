// SPDX-License-Identifier: Apache-2.0
// sx.legacy.Scan8: Scan as opset 8 had it: every tensor has a batch axis in front, each batch its own length.
// Steps past a batch's length leave zeros in the scan outputs.
#include <algorithm>

#include "ops/control/flow.h"
#include "ops/control/scan_steps.h"
#include "ops/engine/codec.h"
#include "ops/engine/move.h"

namespace sx::ops::scan_8 {

// The type of one batch (and of one step of it).
static Type without_axes(const Type& type, size_t count) {
  Type t = type;
  if (t.shape.known && t.shape.rank() >= count) {
    t.shape.dims.erase(t.shape.dims.begin(), t.shape.dims.begin() + ptrdiff_t(count));
  }
  return t;
}

static Status infer(Infer& i) {
  SX_ASSIGN(const size_t states, scan_states(i, 1));
  SX_TRY(reversals(i.attrs(), "directions", i.inputs() - 1 - states).status());
  std::vector<Type> types;
  Dim batch = i.fresh("batch"), length = i.fresh("steps");
  for (size_t k = 1; k < i.inputs(); ++k) {
    const bool scan = k > states;
    types.push_back(without_axes(i.in(k), scan ? 2 : 1));
    if (i.rank_known(k) && i.rank(k) >= (scan ? 2 : 1)) {
      batch = i.dim(k, 0);
      if (scan) length = i.dim(k, 1);
    }
  }
  if (!i.infer_body) return {};
  SX_ASSIGN(const std::vector<Type> found, infer_turns(i, body_of(i.attrs(), "body"), types, 0, 0, states));
  if (found.size() < i.outputs()) {
    return i.fail("the body has {} outputs, the node needs {}", found.size(), i.outputs());
  }
  for (size_t k = 0; k < i.outputs(); ++k) {
    Type t = k < states ? types[k] : found[k];
    if (k >= states) {
      SX_ASSIGN(t, stacked_type(i, t, 0, length));
    }
    SX_ASSIGN(i.out(k), stacked_type(i, t, 0, batch));
  }
  return {};
}

// One batch: its states and slices through all steps; scan outputs padded with zeros to `length`.
static Result<std::vector<Tensor>> run_batch(Eval& e, size_t states, int64_t b, int64_t steps,
                                             int64_t length) {
  const size_t scans = e.inputs() - 1 - states;
  ScanSteps s;
  s.body = e.body("body");
  s.steps = steps;
  SX_ASSIGN(s.directions, reversals(e.attrs(), "directions", scans));
  s.axes.assign(scans, 0);
  s.kept.resize(e.outputs() - states);
  for (size_t k = 0; k < states; ++k) {
    SX_ASSIGN(Tensor state, slice_at(e.in(1 + k), 0, b));
    s.states.push_back(std::move(state));
  }
  for (size_t k = 0; k < scans; ++k) {
    SX_ASSIGN(Tensor all, slice_at(e.in(1 + states + k), 0, b));
    Dims dims = all.dims();
    dims[0] = steps;
    SX_ASSIGN(Tensor part, Tensor::allocate(all.type(), dims));
    move_run(all, 0, part, 0, part.count());
    s.inputs.push_back(std::move(part));
  }
  SX_TRY(s.run(e));
  std::vector<Tensor> outputs;
  for (Value& v : s.states) outputs.push_back(std::move(v.tensor));
  for (size_t k = 0; k < s.kept.size(); ++k) {
    if (s.kept[k].empty()) return Status(e.fail("batch {} has no steps", b));
    SX_ASSIGN(Tensor part, stacked(s.kept[k], 0, false));
    Dims dims = part.dims();
    dims[0] = length;
    SX_ASSIGN(Tensor padded, Tensor::zeros(part.type(), dims));
    move_run(part, 0, padded, 0, part.count());
    outputs.push_back(std::move(padded));
  }
  return outputs;
}

static Status eval(Eval& e) {
  SX_ASSIGN(const size_t states, scan_states(e, 1));
  const Tensor& first = e.in(1 + states);
  if (first.rank() < 2)
    return e.fail("scan inputs need a batch and a sequence axis, found rank {}", first.rank());
  const int64_t batches = first.dims()[0], length = first.dims()[1];
  for (size_t k = 1; k < e.inputs(); ++k) {
    const Dims& dims = e.in(k).dims();
    const bool scan = k > states;
    if (dims.size() < (scan ? 2 : 1) || dims[0] != batches || (scan && dims[1] != length)) {
      return e.fail("input {} is {}, {} batches of {} steps expected", k, to_string(dims), batches, length);
    }
  }
  const Reader<int64_t> lengths(e.has(0) ? e.in(0) : Tensor());
  if (e.has(0) && int64_t(lengths.size()) != batches)
    return e.fail("{} sequence_lens for {} batches", lengths.size(), batches);
  std::vector<std::vector<Tensor>> parts(e.outputs());
  for (int64_t b = 0; b < batches; ++b) {
    SX_TRY(check_stop());
    const int64_t steps = e.has(0) ? std::clamp<int64_t>(lengths[size_t(b)], 0, length) : length;
    SX_ASSIGN(std::vector<Tensor> outputs, run_batch(e, states, b, steps, length));
    for (size_t k = 0; k < outputs.size(); ++k) parts[k].push_back(std::move(outputs[k]));
  }
  for (size_t k = 0; k < e.outputs(); ++k) {
    SX_ASSIGN(Tensor y, parts[k].empty() ? stacked_nothing(e, k, 0) : stacked(parts[k], 0, false));
    e.set(k, std::move(y));
  }
  return {};
}

extern const Op op = {
    .name = "Scan8",
    .domain = "sx.legacy",
    .in = {{"sequence_lens", "I", kOptional},
           {"initial_state_and_scan_inputs", "V", kVariadic | kHeterogeneous}},
    .out = {{"final_state_and_scan_outputs", "V", kVariadic | kHeterogeneous}},
    .types = {{"I", DTypeSet::of(DType::i64)}, {"V", kAll25}},
    .attrs = {required_attr("body", AttrKind::graph), optional_attr("directions", AttrKind::integers),
              required_attr("num_scan_inputs", AttrKind::integer)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
    .control_flow = true,
};

}  // namespace sx::ops::scan_8
