// SPDX-License-Identifier: Apache-2.0
// Imputer: elements that equal the replaced value (which may be NaN) become the imputed one, of their column
// or of all.
#include <cmath>

#include "base/task.h"
#include "ops/ml/columns.h"

namespace sx::ops::imputer {

template <class T, class A>
static Status impute(Eval& e, const std::vector<A>& values, A replaced) {
  const Tensor& in = e.in(0);
  const size_t cols = in.rank() ? size_t(in.dims().back()) : 1;
  if (values.empty()) return e.fail("there is no imputed value for {}", dtype_name(in.type()));
  const bool each = values.size() == cols;  // else the first one is for all, as in onnxruntime
  const bool nan = replaced != replaced;
  const Reader<T> x(in);
  Writer<T> y(e.out(0));
  StopCheck<> stop;
  for (size_t k = 0; k < x.size() && !stop(); ++k) {
    const bool missing = nan ? x[k] != x[k] : x[k] == T(replaced);
    y[k] = missing ? T(values[each ? k % cols : 0]) : x[k];
  }
  return {};
}

static Status eval(Eval& e) {
  if (dtype_is_float(e.in(0).type())) {
    return impute<double>(e, e.floatings("imputed_value_floats"), e.floating("replaced_value_float"));
  }
  return impute<int64_t>(e, e.integers("imputed_value_int64s"), e.integer("replaced_value_int64"));
}

extern const Op op = {
    .name = "Imputer",
    .domain = kMl,
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kMlNumbers}},
    .attrs = {optional_attr("imputed_value_floats", AttrKind::floatings),
              optional_attr("imputed_value_int64s", AttrKind::integers),
              attr_float("replaced_value_float", 0), attr_int("replaced_value_int64", 0)},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::imputer
