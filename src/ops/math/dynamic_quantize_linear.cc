// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeLinear: to uint8 with the scale and zero point that the input's own range asks for.
#include <algorithm>
#include <cmath>

#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/quant.h"
#include "ops/engine/codec.h"

namespace sx::ops::dynamic_quantize_linear {

static Status infer(Infer& i) {
  i.set_tensor(0, DType::u8, i.in(0).shape);
  i.set_tensor(1, i.elem(0), Shape(std::vector<Dim>()));
  i.set_tensor(2, DType::u8, Shape(std::vector<Dim>()));
  return {};
}

static Status eval(Eval& e) {
  return with_class<kFloatClasses>(e, e.in(0).type(), [&](auto nothing) -> Status {
    using T = decltype(nothing);
    const Reader<T> x(e.in(0));
    T low = 0, high = 0;
    for (T v : stoppable(x)) low = std::min(low, v), high = std::max(high, v);
    const T scale = high == low ? T(1) / 255 : (high - low) / 255;
    const double zero = std::nearbyint(std::clamp<double>(double(-low / scale), 0, 255));
    Writer<T> y(e.out(0)), scale_out(e.out(1)), zero_out(e.out(2));
    for (size_t k : turns(x.size())) y[k] = T(quantised(double(x[k] / scale), zero, DType::u8));
    scale_out[0] = scale;
    zero_out[0] = T(zero);
    return {};
  });
}

extern const Op op = {
    .name = "DynamicQuantizeLinear",
    .in = {{"x", "T1"}},
    .out = {{"y", "T2"}, {"y_scale", "tensor(float)"}, {"y_zero_point", "T2"}},
    .types = {{"T1", kF32}, {"T2", DTypeSet::of(DType::u8)}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 11}},
};

}  // namespace sx::ops::dynamic_quantize_linear
