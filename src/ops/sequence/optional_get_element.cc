// SPDX-License-Identifier: Apache-2.0
// OptionalGetElement: what an optional holds; a value that is not optional stays as it is.
#include "ops/sequence/sequences.h"

namespace sx::ops::optional_get_element {

static Status infer(Infer& i) {
  const Type& t = i.in(0);
  i.out(0) = t.kind != Value::Kind::optional ? t : t.inner ? *t.inner : Type();
  return {};
}

static Status eval(Eval& e) {
  const Value& v = e.value(0);
  if (v.kind == Value::Kind::optional && !v.optional) return e.fail("the optional is empty");
  e.set(0, v.kind == Value::Kind::optional ? *v.optional : v);
  return {};
}

extern const Op op = {
    .name = "OptionalGetElement",
    .in = {{"input", "O"}},
    .out = {{"output", "V"}},
    .types = {{"O", anything_of(kAll28)}, {"V", tensors_and_sequences_of(kAll28)}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 28},
                {.since = 18,
                 .types = {{"O", anything_of(kOldAll)}, {"V", tensors_and_sequences_of(kOldAll)}}},
                {.since = 15, .types = {{"O", optionals_of(kOldAll)}}}},
};

}  // namespace sx::ops::optional_get_element
