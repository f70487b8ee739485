// SPDX-License-Identifier: Apache-2.0
// Optional: wraps a value, or is empty and of a given type.
#include "ops/sequence/sequences.h"

namespace sx::ops::optional_ {

static Status infer(Infer& i) {
  if (i.has(0)) {
    i.out(0) = Type::optional(i.in(0));
  } else if (const Type* type = i.attrs().get<Type>("type")) {
    i.out(0) = Type::optional(*type);
  } else {
    return i.fail("needs an input or the attribute type");
  }
  return {};
}

static Status eval(Eval& e) {
  e.set(0, e.has(0) ? Value::of_optional(e.value(0)) : Value::empty_optional());
  return {};
}

extern const Op op = {
    .name = "Optional",
    .in = {{"input", "V", kOptional}},
    .out = {{"output", "O"}},
    .types = {{"V", tensors_and_sequences_of(kAll28)}, {"O", optionals_of(kAll28)}},
    .attrs = {optional_attr("type", AttrKind::type)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 28},
                {.since = 15,
                 .types = {{"V", tensors_and_sequences_of(kOldAll)}, {"O", optionals_of(kOldAll)}}}},
};

}  // namespace sx::ops::optional_
