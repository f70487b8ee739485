// SPDX-License-Identifier: Apache-2.0
// SequenceConstruct: a sequence of the inputs.
#include "ops/sequence/sequences.h"

namespace sx::ops::sequence_construct {

static Status infer(Infer& i) {
  Type element;
  for (size_t k = 0; k < i.inputs(); ++k) {
    SX_ASSIGN(element, covering(i, element, i.in(k)));
  }
  i.out(0) = Type::sequence(std::move(element));
  return {};
}

static Status eval(Eval& e) {
  e.set(0, Value::of_sequence({e.all_inputs().begin(), e.all_inputs().end()}));
  return {};
}

extern const Op op = {
    .name = "SequenceConstruct",
    .in = {{"inputs", "T", kVariadic}},
    .out = {{"output_sequence", "S"}},
    .types = {{"T", kOldAll}, {"S", sequences_of(kOldAll)}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 11}},
};

}  // namespace sx::ops::sequence_construct
