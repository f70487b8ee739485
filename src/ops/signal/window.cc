// SPDX-License-Identifier: Apache-2.0
#include "ops/signal/window.h"

#include <cmath>

#include "base/task.h"
#include "ops/common/checks.h"
#include "ops/common/whole.h"
#include "ops/engine/codec.h"

namespace sx::ops {

Status infer_window(Infer& i) {
  SX_TRY(require_one(i, 0, "size"));
  SX_ASSIGN(const DType type, i.dtype("output_datatype", DType::f32));
  const std::optional<Dim> size = one_of(i, 0);
  i.set_tensor(0, type, Shape({size ? *size : i.fresh("window")}));
  return {};
}

Status fill_window(Eval& e, double a0, double a1, double a2) {
  Writer<double> y(e.out(0));
  const bool whole = dtype_is_integer(e.out(0).type());
  const double n = double(y.size()) - (e.integer("periodic") ? 0 : 1);
  StopCheck<> stop;
  for (size_t k = 0; k < y.size() && !stop(); ++k) {
    // A symmetric window of one element is 0 / 0, as the standard's formula has it.
    const double angle = 2 * 3.14159265358979323846 * double(k) / n;
    const double v = a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle);
    y[k] = whole ? whole_part(v) : v;
  }
  return {};
}

}  // namespace sx::ops
