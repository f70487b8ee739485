// SPDX-License-Identifier: Apache-2.0
// Bernoulli: 1 with the probability that each element names, else 0.
#include "ops/engine/codec.h"
#include "ops/random/dice.h"

namespace sx::ops::bernoulli {

static Status eval(Eval& e) {
  Dice dice(e);
  const Reader<double> p(e.in(0));
  Writer<double> y(e.out(0));
  for (size_t k : turns(p.size())) y[k] = dice.uniform() < p[k] ? 1 : 0;
  return {};
}

extern const Op op = {
    .name = "Bernoulli",
    .in = {{"input", "T1"}},
    .out = {{"output", "T2"}},
    .types = {{"T1", kFloats}, {"T2", kNumbers | kBool}},
    .attrs = {optional_attr("dtype", AttrKind::integer), kSeed},
    .infer = infer_like,
    .eval = eval,
    .history = {{.since = 22}, {.since = 15, .types = {{"T1", kOldFloats}}}},
    .pure = false,
};

}  // namespace sx::ops::bernoulli
