// SPDX-License-Identifier: Apache-2.0
// SequenceInsert: the sequence with a tensor put in before a position, at the end by default. Only handles
// are copied, so a sequence that grows in a loop shares its tensors.
#include "base/task.h"
#include "ops/sequence/sequences.h"

namespace sx::ops::sequence_insert {

static Status infer(Infer& i) {
  const Type element = element_of(i, 0);
  // A sequence whose element shape is unknown stays so: it may hold tensors of any shape.
  if (element.known() && !element.shape.known) {
    i.out(0) = i.in(0);
    return {};
  }
  SX_ASSIGN(Type both, covering(i, element, i.in(1)));
  i.out(0) = Type::sequence(std::move(both));
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(const Sequence* s, sequence_at_input(e, 0));
  const std::vector<Value>& old = s->items;
  SX_ASSIGN(const size_t at, position(e, 2, old.size(), true, old.size()));
  std::vector<Value> items;
  items.reserve(old.size() + 1);
  for (size_t k : turns(old.size() + 1)) {
    if (k == at)
      items.push_back(e.value(1));
    else
      items.push_back(old[k < at ? k : k - 1]);
  }
  e.set(0, Value::of_sequence(std::move(items)));
  return {};
}

extern const Op op = {
    .name = "SequenceInsert",
    .in = {{"input_sequence", "S"}, {"tensor", "T"}, {"position", "I", kOptional}},
    .out = {{"output_sequence", "S"}},
    .types = {{"T", kOldAll}, {"S", sequences_of(kOldAll)}, {"I", kIndices}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 11}},
};

}  // namespace sx::ops::sequence_insert
