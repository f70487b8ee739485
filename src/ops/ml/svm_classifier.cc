// SPDX-License-Identifier: Apache-2.0
// SVMClassifier: each pair of classes is decided by the support vectors of both and votes; or, without
// support vectors, one linear score for each class. Binary cases give two scores as onnxruntime does.
#include <algorithm>

#include "base/task.h"
#include "ops/ml/columns.h"
#include "ops/ml/post_transform.h"
#include "ops/ml/support_vectors.h"

namespace sx::ops::svm_classifier {

static Labels labels_of(const Attrs& attrs) {
  return Labels::of(attrs, "classlabels_strings", "classlabels_ints");
}

// How many scores a row ends with.
static int64_t score_count(const Attrs& attrs, const Labels& labels) {
  const bool pairs = !attrs.integers("vectors_per_class").empty() && numbers_of(attrs, "prob_a").empty();
  const int64_t n = int64_t(labels.size());
  return pairs && n > 2 ? n * (n - 1) / 2 : n;
}

static Status infer(Infer& i) {
  const Labels labels = labels_of(i.attrs());
  infer_classifier(i, labels, score_count(i.attrs(), labels));
  return {};
}

struct Machine {
  SvmKernel kernel;
  Labels labels;
  std::vector<double> coefficients, vectors, rho, prob_a, prob_b;
  std::vector<int64_t> counts;  // support vectors of each class; none: linear
  size_t classes = 0, total = 0, features = 0;

  static Result<Machine> of(const Eval& e, size_t features);
  // One score for each pair (or class); votes only where there are pairs.
  void decide(std::span<const double> x, std::vector<double>& scores, std::vector<int>& votes) const;
  std::vector<double> probabilities(const std::vector<double>& scores) const;
};

Result<Machine> Machine::of(const Eval& e, size_t features) {
  Machine m;
  m.labels = labels_of(e.attrs());
  m.coefficients = numbers_of(e.attrs(), "coefficients");
  m.vectors = numbers_of(e.attrs(), "support_vectors");
  m.rho = numbers_of(e.attrs(), "rho");
  m.prob_a = numbers_of(e.attrs(), "prob_a");
  m.prob_b = numbers_of(e.attrs(), "prob_b");
  m.counts = e.integers("vectors_per_class");
  if (!m.counts.empty()) {
    SX_ASSIGN(m.kernel, SvmKernel::of(e));
  }
  m.features = features;
  m.classes = m.labels.size();
  for (int64_t n : m.counts) {
    if (n < 0 || n > INT32_MAX) return e.fail("vectors_per_class has {}, at least 0 expected", n);
    m.total += size_t(n);
  }
  const size_t pairs = m.classes * (m.classes - (m.classes ? 1 : 0)) / 2;
  const bool linear = m.counts.empty();
  const size_t expected = linear ? m.classes * features : (m.classes - (m.classes ? 1 : 0)) * m.total;
  if (m.classes < (linear ? 1 : 2) || m.coefficients.size() < expected ||
      (!linear && m.counts.size() != m.classes) || m.vectors.size() < m.total * features ||
      m.rho.size() < (linear ? 1 : pairs)) {
    return e.fail(
        "{} labels, {} coefficients, {} numbers of support vectors and {} rho do not fit {} features",
        m.classes, m.coefficients.size(), m.vectors.size(), m.rho.size(), features);
  }
  if (!m.prob_a.empty() && (m.prob_a.size() < pairs || m.prob_b.size() < pairs)) {
    return e.fail("prob_a and prob_b have {} and {} numbers for {} pairs", m.prob_a.size(), m.prob_b.size(),
                  pairs);
  }
  return m;
}

void Machine::decide(std::span<const double> x, std::vector<double>& scores, std::vector<int>& votes) const {
  scores.clear();
  votes.clear();
  if (counts.empty()) {
    for (size_t c = 0; c < classes; ++c) {
      scores.push_back(kernel(x, std::span(coefficients).subspan(c * features, features)) + rho[0]);
    }
    return;
  }
  std::vector<double> k(total);
  for (size_t v : turns(total, features))
    k[v] = kernel(x, std::span(vectors).subspan(v * features, features));
  votes.assign(classes, 0);
  std::vector<size_t> first(classes, 0);
  for (size_t c = 1; c < classes; ++c) first[c] = first[c - 1] + size_t(counts[c - 1]);
  for (size_t i = 0; i < classes; ++i) {
    for (size_t j = i + 1; j < classes; ++j) {
      double sum = rho[scores.size()];
      for (size_t v = first[i]; v < first[i] + size_t(counts[i]); ++v)
        sum += coefficients[total * (j - 1) + v] * k[v];
      for (size_t v = first[j]; v < first[j] + size_t(counts[j]); ++v)
        sum += coefficients[total * i + v] * k[v];
      scores.push_back(sum);
      ++votes[sum > 0 ? i : j];
    }
  }
}

std::vector<double> Machine::probabilities(const std::vector<double>& scores) const {
  std::vector<double> pairs(classes * classes, 0);
  size_t at = 0;
  for (size_t i = 0; i < classes; ++i) {
    for (size_t j = i + 1; j < classes; ++j, ++at) {
      const double p = 1 - logistic(scores[at] * prob_a[at] + prob_b[at]);
      pairs[i * classes + j] = std::clamp(p, 1e-7, 1 - 1e-7);
      pairs[j * classes + i] = 1 - pairs[i * classes + j];
    }
  }
  return couple_probabilities(pairs, classes);
}

static Status eval(Eval& e) {
  const Columns m = columns_of(e.in(0));
  SX_ASSIGN(const Machine machine, Machine::of(e, size_t(m.cols)));
  SX_ASSIGN(const Post post, post_named(e.text("post_transform")));
  const Labels& labels = machine.labels;
  const size_t width = size_t(score_count(e.attrs(), labels));
  const bool all_positive =
      std::all_of(machine.coefficients.begin(), machine.coefficients.end(), [](double c) { return c >= 0; });
  const Reader<double> x(e.in(0));
  LabelWriter y(labels, e.out(0));
  Writer<double> z(e.out(1));
  std::vector<double> scores;
  std::vector<int> votes;
  for (int64_t row : turns(m.rows, machine.vectors.size() + machine.coefficients.size())) {
    machine.decide(x.part(size_t(row * m.cols), size_t(m.cols)), scores, votes);
    if (!machine.prob_a.empty() && !votes.empty()) scores = machine.probabilities(scores);
    const auto best = std::max_element(scores.begin(), scores.end());
    size_t top = votes.empty() ? size_t(best - scores.begin())
                               : size_t(std::max_element(votes.begin(), votes.end()) - votes.begin());
    const double weight = votes.empty() ? *best : 0;
    Second second = Second::no;
    if (labels.size() == 2) {
      second = post == Post::none ? Second::negative : Second::complement;
      if (machine.prob_a.empty() && (all_positive ? weight >= 0.5 : weight > 0)) top = 1;
    }
    y.put(row, top);
    finish_scores(post, scores, second);
    scores.resize(width);
    std::copy(scores.begin(), scores.end(), z.data() + size_t(row) * width);
  }
  return {};
}

extern const Op op = {
    .name = "SVMClassifier",
    .domain = kMl,
    .in = {{"X", "T1"}},
    .out = {{"Y", "T2"}, {"Z", "tensor(float)"}},
    .types = {{"T1", kMlNumbers}, {"T2", kLabels}},
    .attrs = {optional_attr("classlabels_ints", AttrKind::integers),
              optional_attr("classlabels_strings", AttrKind::texts),
              optional_attr("coefficients", AttrKind::floatings),
              optional_attr("kernel_params", AttrKind::floatings), attr_text("kernel_type", "LINEAR"),
              attr_text("post_transform", "NONE"), optional_attr("prob_a", AttrKind::floatings),
              optional_attr("prob_b", AttrKind::floatings), optional_attr("rho", AttrKind::floatings),
              optional_attr("support_vectors", AttrKind::floatings),
              optional_attr("vectors_per_class", AttrKind::integers)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::svm_classifier
