// SPDX-License-Identifier: Apache-2.0
// QLinearMatMul: the product of two quantised matrices, quantised again.
#include "base/workspace.h"
#include "graph/op.h"
#include "ops/common/matmul.h"
#include "ops/common/quant.h"
#include "ops/engine/contract.h"

namespace sx::ops::qlinear_matmul {

enum Input : size_t { kA, kAScale, kAZero, kB, kBScale, kBZero, kYScale, kYZero };

static Status infer(Infer& i) { return infer_matmul(i, kA, kB, i.elem(kYZero)); }

// Real numbers: sums of products of bytes are exact in float64, and float8 needs it. A vector of scales or
// zero points lies along the rows of A and the columns of B.
static Result<Workspace<double>> real(const Eval& e, size_t x, size_t axis) {
  const Tensor& t = e.in(x);
  const Reader<double> from(t), scale(e.in(x + 1)), zero(e.in(x + 2));
  SX_ASSIGN(const Spread scale_at, along_axis(e.in(x + 1), t, axis));
  SX_ASSIGN(const Spread zero_at, along_axis(e.in(x + 2), t, axis));
  Workspace<double> y(from.size());
  for (size_t k : turns(y.size())) {
    y[k] = (from[k] - zero[size_t(zero_at.at(int64_t(k)))]) * scale[size_t(scale_at.at(int64_t(k)))];
  }
  return y;
}

static Status eval(Eval& e) {
  const Tensor &a = e.in(kA), &b = e.in(kB);
  SX_ASSIGN(const auto x, real(e, kA, a.rank() < 2 ? 0 : a.rank() - 2));
  SX_ASSIGN(const auto y, real(e, kB, b.rank() - 1));
  const DType type = e.out(0).type();
  Writer<double> out(e.out(0));
  matmul_numbers(x.data(), a.dims(), y.data(), b.dims(), out.data());
  const Reader<double> scale(e.in(kYScale)), zero(e.in(kYZero));
  if (scale.size() == 0 || zero.size() == 0) return e.fail("y_scale or y_zero_point is empty");
  const size_t columns = e.out(0).rank() > 0 ? size_t(e.out(0).dims().back()) : 1;
  StopCheck<> stop;
  for (size_t k = 0; k < out.size() && !stop(); ++k) {
    const double s = scale[scale.size() == 1 ? 0 : k / columns % scale.size()];
    const double z = zero[zero.size() == 1 ? 0 : k / columns % zero.size()];
    out[k] = dtype_is_integer(type) ? quantised(out[k] / s, z, type) : out[k] / s + z;
  }
  return {};
}

constexpr DTypeSet kBytes = DTypeSet::of(DType::i8, DType::u8);
constexpr DTypeSet kScales = DTypeSet::of(DType::f32, DType::f16, DType::bf16);

static std::vector<Param> parameters(std::string_view scale) {
  return {{"a", "T1"},        {"a_scale", scale},     {"a_zero_point", "T1"}, {"b", "T2"},
          {"b_scale", scale}, {"b_zero_point", "T2"}, {"y_scale", scale},     {"y_zero_point", "T3"}};
}

extern const Op op = {
    .name = "QLinearMatMul",
    .in = parameters("TS"),
    .out = {{"y", "T3"}},
    .types = {{"TS", kScales}, {"T1", kFloat8 | kBytes}, {"T2", kFloat8 | kBytes}, {"T3", kFloat8 | kBytes}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 21},
                {.since = 10,
                 .types = {{"T1", kBytes}, {"T2", kBytes}, {"T3", kBytes}},
                 .in = parameters("tensor(float)")}},
};

}  // namespace sx::ops::qlinear_matmul
