// SPDX-License-Identifier: Apache-2.0
// OptionalHasElement: is there something in the optional? A value that is not optional counts as there.
#include "ops/sequence/sequences.h"

namespace sx::ops::optional_has_element {

static Status infer(Infer& i) {
  i.set_tensor(0, DType::boolean, Shape(std::vector<Dim>()));
  return {};
}

static Status eval(Eval& e) {
  const bool there = e.has(0) && (e.value(0).kind != Value::Kind::optional || e.value(0).optional);
  const uint8_t byte = there;
  e.set(0, Tensor::of<uint8_t>(DType::boolean, {}, std::span(&byte, 1)));
  return {};
}

extern const Op op = {
    .name = "OptionalHasElement",
    .in = {{"input", "O", kOptional}},
    .out = {{"output", "B"}},
    .types = {{"O", anything_of(kAll28)}, {"B", kBool}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 28},
                {.since = 18, .types = {{"O", anything_of(kOldAll)}}},
                {.since = 15, .types = {{"O", optionals_of(kOldAll)}}, .in = {{{"input", "O"}}}}},
};

}  // namespace sx::ops::optional_has_element
