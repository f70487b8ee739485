// SPDX-License-Identifier: Apache-2.0
// Identity: the same value, of whatever kind.
#include "ops/tensor/shapes.h"

namespace sx::ops::identity {

static Status infer(Infer& i) {
  i.out(0) = i.in(0);
  if (const auto* e = i.elements(0)) i.set_elements(0, *e);
  return {};
}

static Status eval(Eval& e) {
  e.set(0, e.value(0));
  return {};
}

static TypeSet anything(DTypeSet tensors) {
  TypeSet t(tensors);
  t.sequence = t.optional = t.optional_sequence = kOldAll;
  return t;
}

static TypeSet tensors_and_sequences() {
  TypeSet t(kAll13);
  t.sequence = kOldAll;
  return t;
}

extern const Op op = {
    .name = "Identity",
    .in = {{"input", "V"}},
    .out = {{"output", "V"}},
    .types = {{"V", anything(kAll25)}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 25},
                {.since = 24, .types = {{"V", anything(kAll24)}}},
                {.since = 23, .types = {{"V", anything(kAll23)}}},
                {.since = 21, .types = {{"V", anything(kAll21)}}},
                {.since = 19, .types = {{"V", anything(kAll19)}}},
                {.since = 16, .types = {{"V", anything(kAll13)}}},
                {.since = 14, .types = {{"V", tensors_and_sequences()}}},
                {.since = 13, .types = {{"T", kAll13}}, .in = {{{"input", "T"}}}, .out = {{{"output", "T"}}}},
                {.since = 1, .types = {{"T", kOldAll}}}},
    .view = reshape_view,
    .view_keeps_order = true,
};

}  // namespace sx::ops::identity
