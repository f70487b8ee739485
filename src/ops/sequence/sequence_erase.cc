// SPDX-License-Identifier: Apache-2.0
// SequenceErase: the sequence without one element, the last by default.
#include "base/task.h"
#include "ops/sequence/sequences.h"

namespace sx::ops::sequence_erase {

static Status eval(Eval& e) {
  SX_ASSIGN(const Sequence* s, sequence_at_input(e, 0));
  if (s->items.empty()) return e.fail("the sequence is empty");
  SX_ASSIGN(const size_t at, position(e, 1, s->items.size(), false, s->items.size() - 1));
  std::vector<Value> items;
  items.reserve(s->items.size() - 1);
  for (size_t k : turns(s->items.size())) {
    if (k != at) items.push_back(s->items[k]);
  }
  e.set(0, Value::of_sequence(std::move(items)));
  return {};
}

extern const Op op = {
    .name = "SequenceErase",
    .in = {{"input_sequence", "S"}, {"position", "I", kOptional}},
    .out = {{"output_sequence", "S"}},
    .types = {{"S", sequences_of(kOldAll)}, {"I", kIndices}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 11}},
};

}  // namespace sx::ops::sequence_erase
