// SPDX-License-Identifier: Apache-2.0
// SequenceLength: how many elements a sequence has.
#include "ops/sequence/sequences.h"

namespace sx::ops::sequence_length {

static Status infer(Infer& i) {
  i.set_tensor(0, DType::i64, Shape(std::vector<Dim>()));
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(const Sequence* s, sequence_at_input(e, 0));
  e.set(0, Tensor::scalar_i64(int64_t(s->items.size())));
  return {};
}

extern const Op op = {
    .name = "SequenceLength",
    .in = {{"input_sequence", "S"}},
    .out = {{"length", "I"}},
    .types = {{"S", sequences_of(kOldAll)}, {"I", DTypeSet::of(DType::i64)}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 11}},
};

}  // namespace sx::ops::sequence_length
