// SPDX-License-Identifier: Apache-2.0
// ConvInteger: convolution of 8-bit tensors less their zero points, in int32.
#include "graph/eval.h"
#include "graph/op.h"
#include "ops/common/conv.h"
#include "ops/common/quant.h"

namespace sx::ops::conv_integer {

static Status infer(Infer& i) { return infer_conv(i, 0, 1, 4, DType::i32); }

static Status eval(Eval& e) {
  SX_ASSIGN(const Convolution c, convolution(e.attrs(), e.in(0).dims(), e.in(1).dims()));
  SX_ASSIGN(const auto x, centred(e.in(0), e.has(2) ? &e.in(2) : nullptr, 0));
  SX_ASSIGN(const auto w, centred(e.in(1), e.has(3) ? &e.in(3) : nullptr, 0));
  convolve(c, x.data(), w.data(), e.out(0).mutable_as<int32_t>().data());
  return {};
}

constexpr DTypeSet kBytes = DTypeSet::of(DType::i8, DType::u8);

extern const Op op = {
    .name = "ConvInteger",
    .in = {{"x", "T1"}, {"w", "T2"}, {"x_zero_point", "T1", kOptional}, {"w_zero_point", "T2", kOptional}},
    .out = {{"y", "T3"}},
    .types = {{"T1", kBytes}, {"T2", kBytes}, {"T3", DTypeSet::of(DType::i32)}},
    .attrs = conv_attrs(),
    .infer = infer,
    .eval = eval,
    .history = {{.since = 10}},
};

}  // namespace sx::ops::conv_integer
