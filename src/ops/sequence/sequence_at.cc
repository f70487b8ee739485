// SPDX-License-Identifier: Apache-2.0
// SequenceAt: one element of a sequence.
#include "ops/sequence/sequences.h"

namespace sx::ops::sequence_at {

static Status infer(Infer& i) {
  i.out(0) = element_of(i, 0);
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(const Sequence* s, sequence_at_input(e, 0));
  SX_ASSIGN(const size_t at, position(e, 1, s->items.size(), false, 0));
  e.set(0, s->items[at]);
  return {};
}

extern const Op op = {
    .name = "SequenceAt",
    .in = {{"input_sequence", "S"}, {"position", "I"}},
    .out = {{"tensor", "T"}},
    .types = {{"S", sequences_of(kOldAll)}, {"T", kOldAll}, {"I", kIndices}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 11}},
};

}  // namespace sx::ops::sequence_at
