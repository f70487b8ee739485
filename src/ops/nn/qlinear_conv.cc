// SPDX-License-Identifier: Apache-2.0
// QLinearConv: the convolution of quantised tensors, quantised again; weights may have a scale a feature.
#include "base/workspace.h"
#include "graph/op.h"
#include "ops/common/conv.h"
#include "ops/common/quant.h"
#include "ops/engine/codec.h"

namespace sx::ops::qlinear_conv {

enum Input : size_t { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

static Status infer(Infer& i) { return infer_conv(i, kX, kW, kBias, i.elem(kYZero)); }

static Status eval(Eval& e) {
  SX_ASSIGN(const Convolution c, convolution(e.attrs(), e.in(kX).dims(), e.in(kW).dims()));
  for (const size_t one : {kXScale, kXZero, kYScale, kYZero}) {
    if (e.in(one).count() != 1) return e.fail("input {} has {} elements, 1 expected", one, e.in(one).count());
  }
  if (e.in(kWScale).count() != 1 && e.in(kWScale).count() != c.features) {
    return e.fail("w_scale has {} elements, 1 or {} expected", e.in(kWScale).count(), c.features);
  }
  SX_ASSIGN(const auto x, centred(e.in(kX), &e.in(kXZero), 0));
  SX_ASSIGN(const auto w, centred(e.in(kW), &e.in(kWZero), 0));
  Workspace<int32_t> sums(size_t(e.out(0).count()));
  convolve(c, x.data(), w.data(), sums.data());
  const Reader<double> scales(e.in(kWScale)), bias(e.has(kBias) ? e.in(kBias) : Tensor());
  const double scale = number_at<double>(e.in(kXScale)) / number_at<double>(e.in(kYScale));
  const double zero = number_at<double>(e.in(kYZero));
  const size_t places = size_t(product(c.out));
  Writer<double> y(e.out(0));
  StopCheck<> stop;
  for (size_t k = 0; k < sums.size() && !stop(); ++k) {
    const size_t m = k / places % size_t(c.features);
    const double sum = sums[k] + (bias.size() > 0 ? bias[m] : 0);
    y[k] = quantised(sum * scale * scales[scales.size() == 1 ? 0 : m], zero, e.out(0).type());
  }
  return {};
}

constexpr DTypeSet kBytes = DTypeSet::of(DType::i8, DType::u8);

extern const Op op = {
    .name = "QLinearConv",
    .in = {{"x", "T1"},
           {"x_scale", "tensor(float)"},
           {"x_zero_point", "T1"},
           {"w", "T2"},
           {"w_scale", "tensor(float)"},
           {"w_zero_point", "T2"},
           {"y_scale", "tensor(float)"},
           {"y_zero_point", "T3"},
           {"B", "T4", kOptional}},
    .out = {{"y", "T3"}},
    .types = {{"T1", kBytes}, {"T2", kBytes}, {"T3", kBytes}, {"T4", DTypeSet::of(DType::i32)}},
    .attrs = conv_attrs(),
    .infer = infer,
    .eval = eval,
    .history = {{.since = 10}},
};

}  // namespace sx::ops::qlinear_conv
