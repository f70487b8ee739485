// SPDX-License-Identifier: Apache-2.0
// Scan: a body runs once for each slice of its scan inputs; states are carried, scan outputs stacked.
#include "graph/lift.h"
#include "ops/control/flow.h"
#include "ops/control/scan_steps.h"

namespace sx::ops::scan {

static Status infer(Infer& i) {
  if (!i.infer_body) return {};
  SX_ASSIGN(const size_t states, scan_states(i, 0));
  const size_t scans = i.inputs() - states;
  SX_ASSIGN(const std::vector<int64_t> axes, one_each(i.attrs(), "scan_input_axes", scans));
  SX_ASSIGN(const std::vector<int64_t> out_axes,
            one_each(i.attrs(), "scan_output_axes", i.outputs() - states));
  SX_TRY(reversals(i.attrs(), "scan_input_directions", scans).status());
  SX_TRY(reversals(i.attrs(), "scan_output_directions", i.outputs() - states).status());
  std::vector<Type> types;
  for (size_t k = 0; k < states; ++k) types.push_back(i.in(k));
  Dim length;
  bool known = false;
  for (size_t k = 0; k < scans; ++k) {
    Type t = i.in(states + k);
    if (t.shape.known) {
      SX_ASSIGN(const size_t axis, i.axis(axes[k], t.shape.rank()));
      const Dim here = t.shape.dims[axis];
      t.shape.dims.erase(t.shape.dims.begin() + ptrdiff_t(axis));
      if (known) SX_TRY(i.require_equal(length, here, format("lengths of scan inputs 0 and {}", k)));
      if (!known) length = here;
      known = true;
    }
    types.push_back(std::move(t));
  }
  if (!known) length = i.fresh("steps");
  SX_ASSIGN(const std::vector<Type> found, infer_turns(i, body_of(i.attrs(), "body"), types, 0, 0, states));
  if (found.size() < i.outputs()) {
    return i.fail("the body has {} outputs, the node needs {}", found.size(), i.outputs());
  }
  for (size_t k = 0; k < i.outputs(); ++k) {
    if (k < states) {
      i.out(k) = outside(i, types[k]);
    } else {
      SX_ASSIGN(i.out(k), stacked_type(i, found[k], out_axes[k - states], length));
    }
  }
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(const size_t states, scan_states(e, 0));
  const size_t scans = e.inputs() - states, outs = e.outputs() - states;
  SX_ASSIGN(const std::vector<int64_t> in_axes, one_each(e.attrs(), "scan_input_axes", scans));
  SX_ASSIGN(const std::vector<int64_t> out_axes, one_each(e.attrs(), "scan_output_axes", outs));
  SX_ASSIGN(const std::vector<int64_t> reversed, reversals(e.attrs(), "scan_output_directions", outs));
  ScanSteps s;
  SX_ASSIGN(s.directions, reversals(e.attrs(), "scan_input_directions", scans));
  s.body = e.body("body");
  s.kept.resize(outs);
  for (size_t k = 0; k < states; ++k) s.states.push_back(e.value(k));
  for (size_t k = 0; k < scans; ++k) {
    const Tensor& x = e.in(states + k);
    SX_ASSIGN(const size_t axis, e.axis(in_axes[k], x.rank()));
    if (k && x.dims()[axis] != s.steps) {
      return e.fail("scan input {} has {} steps, scan input 0 has {}", k, x.dims()[axis], s.steps);
    }
    s.steps = x.dims()[axis];
    s.inputs.push_back(x);
    s.axes.push_back(axis);
  }
  SX_TRY(s.run(e));
  for (size_t k = 0; k < states; ++k) e.set(k, std::move(s.states[k]));
  for (size_t k = 0; k < outs; ++k) {
    SX_ASSIGN(Tensor y, s.steps ? stacked(s.kept[k], out_axes[k], reversed[k] != 0)
                                : stacked_nothing(e, states + k, out_axes[k]));
    e.set(states + k, std::move(y));
  }
  return {};
}

// Opset 8 had a batch axis in front of everything, and a length for each batch.
static Status lift_8(Lift& l) {
  l.set_type("Scan8", "sx.legacy");
  return {};
}

static const std::vector<AttrDef> kAttrs8 = {required_attr("body", AttrKind::graph),
                                             optional_attr("directions", AttrKind::integers),
                                             required_attr("num_scan_inputs", AttrKind::integer)};
static const std::vector<Param> kIn8 = {{"sequence_lens", "I", kOptional},
                                        {"initial_state_and_scan_inputs", "V", kVariadic | kHeterogeneous}};

extern const Op op = {
    .name = "Scan",
    .in = {{"initial_state_and_scan_inputs", "V", kVariadic | kHeterogeneous}},
    .out = {{"final_state_and_scan_outputs", "V", kVariadic | kHeterogeneous}},
    .types = {{"V", kAll25}},
    .attrs = {required_attr("body", AttrKind::graph), required_attr("num_scan_inputs", AttrKind::integer),
              optional_attr("scan_input_axes", AttrKind::integers),
              optional_attr("scan_input_directions", AttrKind::integers),
              optional_attr("scan_output_axes", AttrKind::integers),
              optional_attr("scan_output_directions", AttrKind::integers)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 25},
                {.since = 24, .types = {{"V", kAll24}}},
                {.since = 23, .types = {{"V", kAll23}}},
                {.since = 21, .types = {{"V", kAll21}}},
                {.since = 19, .types = {{"V", kAll19}}},
                {.since = 16, .types = {{"V", kAll13}}},
                {.since = 11, .types = {{"V", kOldAll}}},
                {.since = 9},
                {.since = 8,
                 .types = {{"I", DTypeSet::of(DType::i64)}},
                 .attrs = kAttrs8,
                 .in = kIn8,
                 .lift = lift_8}},
    .control_flow = true,
};

}  // namespace sx::ops::scan
