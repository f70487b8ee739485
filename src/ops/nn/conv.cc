// SPDX-License-Identifier: Apache-2.0
// Conv: convolution of any number of spatial axes, with groups, strides, dilations, padding and bias.
#include "ops/common/conv.h"
#include "graph/op.h"
#include "ops/engine/codec.h"

namespace sx::ops::conv {

static Status infer(Infer& i) { return infer_conv(i, 0, 1, 2, i.elem(0)); }

static Status eval(Eval& e) {
  SX_ASSIGN(const Convolution c, convolution(e.attrs(), e.in(0).dims(), e.in(1).dims()));
  return with_class<kFloatClasses>(e, e.in(0).type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> x(e.in(0)), w(e.in(1));
    Writer<T> y(e.out(0));
    convolve(c, x.data(), w.data(), y.data());
    if (!e.has(2)) return {};
    const Reader<T> bias(e.in(2));
    const size_t places = size_t(product(c.out));
    for (size_t k : turns(y.size())) y[k] += bias[k / places % size_t(c.features)];
    return {};
  });
}

extern const Op op = {
    .name = "Conv",
    .in = {{"X", "T"}, {"W", "T"}, {"B", "T", kOptional}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = conv_attrs(),
    .infer = infer,
    .eval = eval,
    .history = {{.since = 22}, {.since = 11, .types = {{"T", kOldFloats}}}, {.since = 1}},
};

}  // namespace sx::ops::conv
