// SPDX-License-Identifier: Apache-2.0
// LSTM: gates i, o, f, c in this order; c' = f·c + i·g(…), h' = o·h(c'). Clipping bounds what goes into the
// gates.
#include "ops/rnn/recurrent.h"

namespace sx::ops::lstm {

static Status infer(Infer& i) { return infer_recurrent(i, 4); }

// One row: `g` is scratch for four gates.
template <class T>
static void step(const Recurrent& r, bool input_forget, const Cell<T>& cell, T* g, T* top) {
  const size_t n = size_t(r.hidden);
  T *in = g, *out = g + n, *forget = g + 2 * n, *candidate = g + 3 * n;
  for (size_t k = 0; k < 4 * n; ++k) g[k] = cell.xw[k] + cell.hr[k] + (cell.wb[k] + cell.rb[k]);
  if (const T* p = cell.peephole) {
    for (size_t k = 0; k < n; ++k) {
      in[k] += p[k] * cell.c[k];
      forget[k] += p[2 * n + k] * cell.c[k];
    }
  }
  clip_all(r, in, n);
  clip_all(r, forget, 2 * n);  // and the candidate behind it
  activate(cell.functions[0], in, n);
  activate(cell.functions[0], forget, n);
  activate(cell.functions[1], candidate, n);
  for (size_t k = 0; k < n; ++k) {
    const T keep = input_forget ? T(1) - in[k] : forget[k];
    cell.c[k] = keep * cell.c[k] + in[k] * candidate[k];
  }
  if (const T* p = cell.peephole) {
    for (size_t k = 0; k < n; ++k) out[k] += p[n + k] * cell.c[k];
  }
  clip_all(r, out, n);
  activate(cell.functions[0], out, n);
  for (size_t k = 0; k < n; ++k) top[k] = cell.c[k];
  activate(cell.functions[2], top, n);
  for (size_t k = 0; k < n; ++k) cell.h[k] = out[k] * top[k];
}

static Status eval(Eval& e) {
  constexpr std::string_view kDefaults[] = {"Sigmoid", "Tanh", "Tanh"};
  SX_ASSIGN(const Recurrent r, Recurrent::of(e, 4, kDefaults));
  const bool input_forget = e.integer("input_forget") != 0;
  return with_class<kFloatClasses>(e, e.in(0).type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    std::vector<T> scratch(size_t(5 * r.hidden));
    return walk<T>(e, r, true, [&](const Cell<T>& cell) {
      step(r, input_forget, cell, scratch.data(), scratch.data() + 4 * r.hidden);
    });
  });
}

static const AttrDef kDirection = attr_text("direction", "forward");
static const AttrDef kInputForget = attr_int("input_forget", 0);

extern const Op op = {
    .name = "LSTM",
    .in = {{"X", "T"},
           {"W", "T"},
           {"R", "T"},
           {"B", "T", kOptional},
           {"sequence_lens", "T1", kOptional},
           {"initial_h", "T", kOptional},
           {"initial_c", "T", kOptional},
           {"P", "T", kOptional}},
    .out = {{"Y", "T", kOptional}, {"Y_h", "T", kOptional}, {"Y_c", "T", kOptional}},
    .types = {{"T", kFloats}, {"T1", DTypeSet::of(DType::i32)}},
    .attrs = recurrent_attrs({kDirection, kInputForget, attr_int("layout", 0)}),
    .infer = infer,
    .eval = eval,
    .history = {{.since = 22},
                {.since = 14, .types = {{"T", kOldFloats}}},
                {.since = 7, .attrs = recurrent_attrs({kDirection, kInputForget})},
                {.since = 1,
                 .attrs = recurrent_attrs({kDirection, kInputForget, attr_int("output_sequence", 0)}),
                 .lift = lift_output_sequence}},
};

}  // namespace sx::ops::lstm
