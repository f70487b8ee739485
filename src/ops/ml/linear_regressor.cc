// SPDX-License-Identifier: Apache-2.0
// LinearRegressor: X·coefficientsᵀ + intercepts, one column for each target.
#include <algorithm>

#include "base/task.h"
#include "ops/ml/columns.h"
#include "ops/ml/post_transform.h"

namespace sx::ops::linear_regressor {

static Status infer(Infer& i) {
  if (i.integer("targets") < 1) return i.fail("targets is {}, at least 1 expected", i.integer("targets"));
  infer_rows(i, 0, DType::f32, i.integer("targets"));
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(const Post post, post_named(e.text("post_transform")));
  const Columns m = columns_of(e.in(0));
  const int64_t n = e.integer("targets");
  const std::vector<double> weights = numbers_of(e.attrs(), "coefficients");
  std::vector<double> bias = numbers_of(e.attrs(), "intercepts");
  if (int64_t(weights.size()) / n < m.cols)
    return e.fail("{} coefficients for {} targets of {} features", weights.size(), n, m.cols);
  // As onnxruntime does: coefficients beyond those needed, and intercepts that are not one a target, do not
  // count.
  if (int64_t(bias.size()) != n) bias.clear();
  const Reader<double> x(e.in(0));
  Writer<double> y(e.out(0));
  std::vector<double> scores;
  for (int64_t row : turns(m.rows, size_t(n * m.cols))) {
    scores.assign(size_t(n), 0);
    for (int64_t t : turns(n, size_t(m.cols))) {
      double sum = bias.empty() ? 0 : bias[size_t(t)];
      for (int64_t k : turns(m.cols)) sum += weights[size_t(t * m.cols + k)] * x[size_t(row * m.cols + k)];
      scores[size_t(t)] = sum;
    }
    finish_scores(post, scores, Second::no);
    std::copy(scores.begin(), scores.end(), y.data() + row * n);
  }
  return {};
}

extern const Op op = {
    .name = "LinearRegressor",
    .domain = kMl,
    .in = {{"X", "T"}},
    .out = {{"Y", "tensor(float)"}},
    .types = {{"T", kMlNumbers}},
    .attrs = {optional_attr("coefficients", AttrKind::floatings),
              optional_attr("intercepts", AttrKind::floatings), attr_text("post_transform", "NONE"),
              attr_int("targets", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::linear_regressor
