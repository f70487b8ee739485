// SPDX-License-Identifier: Apache-2.0
// LinearClassifier: scores = X·coefficientsᵀ + intercepts, the class with the greatest score. With one row of
// coefficients the sign decides, and two labels get two scores.
#include <algorithm>

#include "base/task.h"
#include "ops/engine/contract.h"
#include "ops/ml/columns.h"
#include "ops/ml/post_transform.h"

namespace sx::ops::linear_classifier {

static int64_t score_count(const Attrs& attrs, const Labels& labels) {
  const auto* intercepts = attrs.get<std::vector<float>>("intercepts");
  return int64_t(intercepts && !intercepts->empty() ? intercepts->size() : labels.size());
}

static Labels labels_of(const Attrs& attrs) {
  return Labels::of(attrs, "classlabels_strings", "classlabels_ints");
}

static Status infer(Infer& i) {
  const Labels labels = labels_of(i.attrs());
  const int64_t n = score_count(i.attrs(), labels);
  if (n == 0) return i.fail("has neither intercepts nor class labels");
  infer_classifier(i, labels, n == 1 && labels.size() == 2 ? 2 : n);
  return {};
}

static Status eval(Eval& e) {
  const Labels labels = labels_of(e.attrs());
  SX_ASSIGN(const Post post, post_named(e.text("post_transform")));
  const Columns m = columns_of(e.in(0));
  const int64_t n = score_count(e.attrs(), labels);
  const std::vector<double> weights = numbers_of(e.attrs(), "coefficients"),
                            bias = numbers_of(e.attrs(), "intercepts");
  // Coefficients beyond those that are needed are not read.
  if (int64_t(weights.size()) / n < m.cols) {
    return e.fail("{} coefficients for {} classes of {} features", weights.size(), n, m.cols);
  }
  if (n > 1 && int64_t(labels.size()) < n) return e.fail("{} class labels for {} scores", labels.size(), n);
  const Reader<double> x(e.in(0));
  LabelWriter y(labels, e.out(0));
  Writer<double> z(e.out(1));
  const bool two = n == 1 && labels.size() == 2;
  const size_t width = two ? 2 : size_t(n);
  std::vector<double> scores;
  for (int64_t row : turns(m.rows, size_t(n * m.cols))) {
    scores.assign(size_t(n), 0);
    for (int64_t c : turns(n, size_t(m.cols))) {
      double sum = bias.empty() ? 0 : bias[size_t(c)];
      for (int64_t k : turns(m.cols)) sum += weights[size_t(c * m.cols + k)] * x[size_t(row * m.cols + k)];
      scores[size_t(c)] = sum;
    }
    if (n > 1) {
      y.put(row, size_t(std::max_element(scores.begin(), scores.end()) - scores.begin()));
    } else if (two) {
      y.put(row, size_t(scores[0] > 0));
    } else {
      y.put(row, scores[0] > 0 ? "1" : "0", scores[0] > 0);
    }
    finish_scores(post, scores, two ? Second::complement : Second::no);
    std::copy_n(scores.begin(), width, z.data() + size_t(row) * width);
  }
  return {};
}

extern const Op op = {
    .name = "LinearClassifier",
    .domain = kMl,
    .in = {{"X", "T1"}},
    .out = {{"Y", "T2"}, {"Z", "tensor(float)"}},
    .types = {{"T1", kMlNumbers}, {"T2", kLabels}},
    .attrs = {optional_attr("classlabels_ints", AttrKind::integers),
              optional_attr("classlabels_strings", AttrKind::texts),
              required_attr("coefficients", AttrKind::floatings),
              optional_attr("intercepts", AttrKind::floatings), attr_int("multi_class", 0),
              attr_text("post_transform", "NONE")},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::linear_classifier
