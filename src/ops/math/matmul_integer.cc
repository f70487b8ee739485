// SPDX-License-Identifier: Apache-2.0
// MatMulInteger: the product of 8-bit matrices less their zero points, in int32.
#include "graph/op.h"
#include "ops/common/matmul.h"
#include "ops/common/quant.h"
#include "ops/engine/contract.h"

namespace sx::ops::matmul_integer {

static Status infer(Infer& i) { return infer_matmul(i, 0, 1, DType::i32); }

static Status eval(Eval& e) {
  const Tensor &a = e.in(0), &b = e.in(1);
  SX_ASSIGN(const auto x, centred(a, e.has(2) ? &e.in(2) : nullptr, a.rank() < 2 ? 0 : a.rank() - 2));
  SX_ASSIGN(const auto y, centred(b, e.has(3) ? &e.in(3) : nullptr, b.rank() - 1));
  matmul_numbers(x.data(), a.dims(), y.data(), b.dims(), e.out(0).mutable_as<int32_t>().data());
  return {};
}

constexpr DTypeSet kBytes = DTypeSet::of(DType::i8, DType::u8);

extern const Op op = {
    .name = "MatMulInteger",
    .in = {{"A", "T1"}, {"B", "T2"}, {"a_zero_point", "T1", kOptional}, {"b_zero_point", "T2", kOptional}},
    .out = {{"Y", "T3"}},
    .types = {{"T1", kBytes}, {"T2", kBytes}, {"T3", DTypeSet::of(DType::i32)}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 10}},
};

}  // namespace sx::ops::matmul_integer
