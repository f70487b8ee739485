// SPDX-License-Identifier: Apache-2.0
// SequenceEmpty: a sequence with nothing in it yet.
#include "ops/sequence/sequences.h"

namespace sx::ops::sequence_empty {

static Status infer(Infer& i) {
  SX_ASSIGN(const DType type, i.dtype("dtype", DType::f32));
  i.out(0) = Type::sequence(Type::tensor(type));
  return {};
}

static Status eval(Eval& e) {
  e.set(0, Value::of_sequence({}));
  return {};
}

extern const Op op = {
    .name = "SequenceEmpty",
    .out = {{"output", "S"}},
    .types = {{"S", sequences_of(kOldAll)}},
    .attrs = {optional_attr("dtype", AttrKind::integer)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 11}},
};

}  // namespace sx::ops::sequence_empty
