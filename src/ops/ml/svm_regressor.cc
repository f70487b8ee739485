// SPDX-License-Identifier: Apache-2.0
// SVMRegressor: Σ coefficient · kernel(x, support vector) + rho, or the linear product where there are no
// support vectors. one_class keeps the sign alone. post_transform changes nothing, as in onnxruntime.
#include "base/task.h"
#include "ops/ml/columns.h"
#include "ops/ml/support_vectors.h"

namespace sx::ops::svm_regressor {

static Status infer(Infer& i) {
  infer_rows(i, 0, DType::f32, 1);
  return {};
}

static Status eval(Eval& e) {
  const Columns m = columns_of(e.in(0));
  const size_t features = size_t(m.cols), supports = size_t(e.integer("n_supports"));
  SvmKernel kernel;
  if (supports) {
    SX_ASSIGN(kernel, SvmKernel::of(e));
  }
  const std::vector<double> coefficients = numbers_of(e.attrs(), "coefficients");
  const std::vector<double> vectors = numbers_of(e.attrs(), "support_vectors"),
                            rho = numbers_of(e.attrs(), "rho");
  if (coefficients.size() < (supports ? supports : features) || vectors.size() < supports * features ||
      rho.empty()) {
    return e.fail(
        "{} coefficients, {} numbers of support vectors and {} rho do not fit {} supports of {} features",
        coefficients.size(), vectors.size(), rho.size(), supports, features);
  }
  const Reader<double> x(e.in(0));
  Writer<double> y(e.out(0));
  for (int64_t row : turns(m.rows, vectors.size() + coefficients.size())) {
    const std::span<const double> in = x.part(size_t(row) * features, features);
    double sum = rho[0];
    for (size_t v : turns(supports, features)) {
      sum += coefficients[v] * kernel(in, std::span(vectors).subspan(v * features, features));
    }
    if (supports == 0) sum += kernel(in, std::span(coefficients).first(features));
    if (e.integer("one_class")) sum = sum > 0 ? 1 : -1;
    y[size_t(row)] = sum;
  }
  return {};
}

extern const Op op = {
    .name = "SVMRegressor",
    .domain = kMl,
    .in = {{"X", "T"}},
    .out = {{"Y", "tensor(float)"}},
    .types = {{"T", kMlNumbers}},
    .attrs = {optional_attr("coefficients", AttrKind::floatings),
              optional_attr("kernel_params", AttrKind::floatings), attr_text("kernel_type", "LINEAR"),
              attr_int("n_supports", 0), attr_int("one_class", 0), attr_text("post_transform", "NONE"),
              optional_attr("rho", AttrKind::floatings),
              optional_attr("support_vectors", AttrKind::floatings)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::svm_regressor
