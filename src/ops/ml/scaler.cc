// SPDX-License-Identifier: Apache-2.0
// Scaler: (x - offset) · scale, one pair for each column or one for all.
#include "base/task.h"
#include "ops/ml/columns.h"

namespace sx::ops::scaler {

static Status infer(Infer& i) {
  i.set_tensor(0, DType::f32, i.in(0).shape);
  return {};
}

static Status eval(Eval& e) {
  const std::vector<float> offset = e.floatings("offset"), scale = e.floatings("scale");
  const Tensor& x = e.in(0);
  const size_t cols = x.rank() ? size_t(x.dims().back()) : 1;
  for (const auto* list : {&offset, &scale}) {
    if (list->size() > 1 && list->size() != cols) {
      return e.fail("offset and scale have {} and {} numbers for {} columns", offset.size(), scale.size(),
                    cols);
    }
  }
  const Reader<double> in(x);
  Writer<double> y(e.out(0));
  StopCheck<> stop;
  for (size_t k = 0; k < in.size() && !stop(); ++k) {
    const size_t c = k % cols;
    const double minus = offset.empty() ? 0 : offset[offset.size() == 1 ? 0 : c];
    const double times = scale.empty() ? 1 : scale[scale.size() == 1 ? 0 : c];
    y[k] = (in[k] - minus) * times;
  }
  return {};
}

extern const Op op = {
    .name = "Scaler",
    .domain = kMl,
    .in = {{"X", "T"}},
    .out = {{"Y", "tensor(float)"}},
    .types = {{"T", kMlNumbers}},
    .attrs = {optional_attr("offset", AttrKind::floatings), optional_attr("scale", AttrKind::floatings)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::scaler
