// SPDX-License-Identifier: Apache-2.0
// RNN: h' = f(x·Wᵀ + h·Rᵀ + b), one layer over time.
#include "ops/rnn/recurrent.h"

namespace sx::ops::rnn {

static Status infer(Infer& i) { return infer_recurrent(i, 1); }

static Status eval(Eval& e) {
  constexpr std::string_view kDefaults[] = {"Tanh"};
  SX_ASSIGN(const Recurrent r, Recurrent::of(e, 1, kDefaults));
  return with_class<kFloatClasses>(e, e.in(0).type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const size_t n = size_t(r.hidden);
    return walk<T>(e, r, false, [&](const Cell<T>& cell) {
      for (size_t k = 0; k < n; ++k) cell.h[k] = cell.xw[k] + cell.hr[k] + (cell.wb[k] + cell.rb[k]);
      clip_all(r, cell.h, n);
      activate(cell.functions[0], cell.h, n);
    });
  });
}

static const AttrDef kDirection = attr_text("direction", "forward");

extern const Op op = {
    .name = "RNN",
    .in = {{"X", "T"},
           {"W", "T"},
           {"R", "T"},
           {"B", "T", kOptional},
           {"sequence_lens", "T1", kOptional},
           {"initial_h", "T", kOptional}},
    .out = {{"Y", "T", kOptional}, {"Y_h", "T", kOptional}},
    .types = {{"T", kFloats}, {"T1", DTypeSet::of(DType::i32)}},
    .attrs = recurrent_attrs({kDirection, attr_int("layout", 0)}),
    .infer = infer,
    .eval = eval,
    .history = {{.since = 22},
                {.since = 14, .types = {{"T", kOldFloats}}},
                {.since = 7, .attrs = recurrent_attrs({kDirection})},
                {.since = 1,
                 .attrs = recurrent_attrs({kDirection, attr_int("output_sequence", 0)}),
                 .lift = lift_output_sequence}},
};

}  // namespace sx::ops::rnn
