// SPDX-License-Identifier: Apache-2.0
// GRU: gates z, r, h in this order; h' = (1 - z)·g(…) + z·h. The reset gate works before the recurrence
// product, or after it where linear_before_reset asks so.
#include "ops/rnn/recurrent.h"

namespace sx::ops::gru {

static Status infer(Infer& i) { return infer_recurrent(i, 3); }

// One row: `g` is scratch for three gates and one more row.
template <class T>
static void step(const Recurrent& r, bool linear_before_reset, const Cell<T>& cell, T* g) {
  const size_t n = size_t(r.hidden);
  T *update = g, *reset = g + n, *candidate = g + 2 * n, *scaled = g + 3 * n;
  for (size_t k = 0; k < 2 * n; ++k) g[k] = cell.xw[k] + cell.hr[k] + (cell.wb[k] + cell.rb[k]);
  clip_all(r, g, 2 * n);
  activate(cell.functions[0], g, 2 * n);
  if (linear_before_reset) {
    for (size_t k = 0; k < n; ++k) {
      const size_t at = 2 * n + k;
      candidate[k] = cell.xw[at] + reset[k] * (cell.hr[at] + cell.rb[at]) + cell.wb[at];
    }
  } else {
    for (size_t k = 0; k < n; ++k) scaled[k] = reset[k] * cell.h[k];
    for (size_t k : turns(n, n)) {
      const T* row = cell.r + (2 * n + k) * n;
      T sum = 0;
      for (size_t j = 0; j < n; ++j) sum += row[j] * scaled[j];
      candidate[k] = cell.xw[2 * n + k] + sum + (cell.rb[2 * n + k] + cell.wb[2 * n + k]);
    }
  }
  clip_all(r, candidate, n);
  activate(cell.functions[1], candidate, n);
  for (size_t k = 0; k < n; ++k) cell.h[k] = (T(1) - update[k]) * candidate[k] + update[k] * cell.h[k];
}

static Status eval(Eval& e) {
  constexpr std::string_view kDefaults[] = {"Sigmoid", "Tanh"};
  SX_ASSIGN(const Recurrent r, Recurrent::of(e, 3, kDefaults));
  const bool linear_before_reset = e.integer("linear_before_reset") != 0;
  return with_class<kFloatClasses>(e, e.in(0).type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    std::vector<T> scratch(size_t(4 * r.hidden));
    return walk<T>(e, r, false,
                   [&](const Cell<T>& cell) { step(r, linear_before_reset, cell, scratch.data()); });
  });
}

// Opset 1 misspelt the default direction.
static Status lift_1(Lift& l) {
  if (l.attrs().text("direction", "foward") == "foward") l.attrs().set("direction", std::string("forward"));
  return {};
}

static const AttrDef kDirection = attr_text("direction", "forward");
static const AttrDef kLinear = attr_int("linear_before_reset", 0);
static const AttrDef kOutputSequence = attr_int("output_sequence", 0);

extern const Op op = {
    .name = "GRU",
    .in = {{"X", "T"},
           {"W", "T"},
           {"R", "T"},
           {"B", "T", kOptional},
           {"sequence_lens", "T1", kOptional},
           {"initial_h", "T", kOptional}},
    .out = {{"Y", "T", kOptional}, {"Y_h", "T", kOptional}},
    .types = {{"T", kFloats}, {"T1", DTypeSet::of(DType::i32)}},
    .attrs = recurrent_attrs({kDirection, attr_int("layout", 0), kLinear}),
    .infer = infer,
    .eval = eval,
    .history = {{.since = 22},
                {.since = 14, .types = {{"T", kOldFloats}}},
                {.since = 7, .attrs = recurrent_attrs({kDirection, kLinear})},
                {.since = 3,
                 .attrs = recurrent_attrs({kDirection, kLinear, kOutputSequence}),
                 .lift = lift_output_sequence},
                {.since = 1,
                 .attrs = recurrent_attrs({attr_text("direction", "foward"), kOutputSequence}),
                 .out = {{{"Y", "T", kOptional}, {"Y_h", "T"}}},
                 .lift = lift_1}},
};

}  // namespace sx::ops::gru
