// SPDX-License-Identifier: Apache-2.0
// Normalizer: each row over its greatest element, the sum of its magnitudes, or its length. A row of zeros
// stays.
#include <cmath>

#include "base/task.h"
#include "ops/engine/reduce.h"
#include "ops/ml/columns.h"

namespace sx::ops::normalizer {

static Status infer(Infer& i) {
  i.set_tensor(0, DType::f32, i.in(0).shape);
  return {};
}

static Status eval(Eval& e) {
  const std::string norm = e.text("norm");
  if (norm != "MAX" && norm != "L1" && norm != "L2") return e.fail("norm '{}' is not MAX, L1 or L2", norm);
  const Columns m = columns_of(e.in(0));
  const Reader<double> x(e.in(0));
  Writer<double> y(e.out(0));
  for (int64_t row : turns(m.rows, size_t(m.cols))) {
    const std::span<const double> in = x.part(size_t(row * m.cols), size_t(m.cols));
    double size = 0;
    if (norm == "MAX") {
      size = max_of(in);
    } else {
      for (double v : stoppable(in)) size += norm == "L1" ? std::abs(v) : v * v;
      if (norm == "L2") size = std::sqrt(size);
    }
    for (size_t k : turns(in.size())) y[size_t(row * m.cols) + k] = size == 0 ? in[k] : in[k] / size;
  }
  return {};
}

extern const Op op = {
    .name = "Normalizer",
    .domain = kMl,
    .in = {{"X", "T"}},
    .out = {{"Y", "tensor(float)"}},
    .types = {{"T", kMlNumbers}},
    .attrs = {attr_text("norm", "MAX")},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::normalizer
