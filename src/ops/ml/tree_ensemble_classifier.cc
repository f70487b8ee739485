// SPDX-License-Identifier: Apache-2.0
// TreeEnsembleClassifier: the leaves of all trees added up for each class. Two classes whose leaves speak of
// one alone are a special case, decided as onnxruntime does.
#include <algorithm>

#include "base/task.h"
#include "ops/ml/forest.h"
#include "ops/ml/post_transform.h"

namespace sx::ops::tree_ensemble_classifier {

static Labels labels_of(const Attrs& attrs) {
  return Labels::of(attrs, "classlabels_strings", "classlabels_int64s");
}

static Status infer(Infer& i) {
  const Labels labels = labels_of(i.attrs());
  infer_classifier(i, labels, int64_t(labels.size()));
  return {};
}

struct Decision {
  Labels labels;
  std::vector<double> base;
  bool one_class_weights = false;  // leaves speak of one class alone
  bool all_positive = true;
  const Forest* forest = nullptr;

  // Sums of a row become scores, and its label is written.
  Second decide(std::vector<double>& sums, const std::vector<bool>& seen, int64_t row, LabelWriter& y) const;

 private:
  void add_base_of_two(std::vector<double>& sums, const std::vector<bool>& seen) const;
};

void Decision::add_base_of_two(std::vector<double>& sums, const std::vector<bool>& seen) const {
  if (base.size() == 2 && seen[1]) {
    sums[1] = forest->plus(base[1], sums[0]);
    sums[0] = seen[0] ? -sums[1] : 0;
    return;
  }
  if (!base.empty() && seen[0]) sums[0] = forest->plus(sums[0], base[0]);
  if (base.size() < 2 && !seen[1]) sums.resize(1);
}

Second Decision::decide(std::vector<double>& sums, const std::vector<bool>& seen, int64_t row,
                        LabelWriter& y) const {
  if (labels.size() > 2) {
    size_t top = 0;
    bool found = false;
    for (size_t k = 0; k < sums.size(); ++k) {
      if (!base.empty()) sums[k] = forest->plus(sums[k], base[k]);
      if (base.empty() && !seen[k]) continue;
      if (!found || sums[k] > sums[top]) top = k;
      found = true;
    }
    y.put(row, top);
    return Second::no;
  }
  if (labels.size() == 1) {
    if (!base.empty()) sums[0] = forest->plus(sums[0], base[0]);
    y.put(row, sums[0] > 0 ? "1" : "0", sums[0] > 0);
    return Second::no;
  }
  add_base_of_two(sums, seen);
  const double weight = sums.size() == 2 && seen[1] ? sums[1] : sums[0];
  if (one_class_weights) {
    y.put(row, size_t(weight > (all_positive ? 0.5 : 0.0)));
    return all_positive ? Second::complement : Second::negative;
  }
  // With scores for both classes integer labels are 1 and 0, whatever the model calls them.
  y.put(row, labels.texts.empty() ? std::string() : labels.texts[weight > 0], weight > 0);
  return Second::negative;
}

static Status eval(Eval& e) {
  Decision decision;
  decision.labels = labels_of(e.attrs());
  decision.base = numbers_of(e.attrs(), "base_values");
  const size_t n = decision.labels.size();
  if (n == 0) return e.fail("has no class labels");
  if (decision.base.size() > (n > 2 ? 0 : 2) && decision.base.size() != n) {
    return e.fail("{} base_values for {} classes", decision.base.size(), n);
  }
  SX_ASSIGN(Forest forest, Forest::of_lists(e.attrs(), "class", n));
  forest.single = !is_wide(e) && e.in(0).type() != DType::f64;
  decision.forest = &forest;
  SX_ASSIGN(const Post post, post_named(e.text("post_transform")));
  for (const Forest::Weight& w : forest.weights)
    decision.all_positive = decision.all_positive && w.value >= 0;
  decision.one_class_weights =
      n == 2 && std::all_of(forest.weights.begin(), forest.weights.end(),
                            [&](const Forest::Weight& w) { return w.target == forest.weights[0].target; });
  const Columns m = columns_of(e.in(0));
  if (int64_t(forest.features) > m.cols)
    return e.fail("asks for {} features, X has {}", forest.features, m.cols);
  const Reader<double> x(e.in(0));
  LabelWriter y(decision.labels, e.out(0));
  Writer<double> z(e.out(1));
  std::vector<double> sums;
  std::vector<bool> seen(n);
  constexpr size_t kTree = 64;  // about as many short turns
  for (int64_t row : turns(m.rows, kTree * forest.roots.size())) {
    sums.assign(n, 0);
    SX_TRY(forest.score(x.data() + row * m.cols, Forest::Aggregate::sum, sums, seen));
    finish_scores(post, sums, decision.decide(sums, seen, row, y));
    sums.resize(n);
    std::copy(sums.begin(), sums.end(), z.data() + size_t(row) * n);
  }
  return {};
}

static std::vector<AttrDef> attrs(bool tensors) {
  std::vector<AttrDef> list = forest_attrs(tensors, {optional_attr("class_ids", AttrKind::integers),
                                                     optional_attr("class_nodeids", AttrKind::integers),
                                                     optional_attr("class_treeids", AttrKind::integers),
                                                     optional_attr("class_weights", AttrKind::floatings),
                                                     optional_attr("classlabels_int64s", AttrKind::integers),
                                                     optional_attr("classlabels_strings", AttrKind::texts)});
  if (tensors) list.push_back(optional_attr("class_weights_as_tensor", AttrKind::tensor));
  return list;
}

extern const Op op = {
    .name = "TreeEnsembleClassifier",
    .domain = kMl,
    .in = {{"X", "T1"}},
    .out = {{"Y", "T2"}, {"Z", "tensor(float)"}},
    .types = {{"T1", kMlNumbers}, {"T2", kLabels}},
    .attrs = attrs(true),
    .infer = infer,
    .eval = eval,
    .history = {{.since = 5, .removed = true}, {.since = 3}, {.since = 1, .attrs = attrs(false)}},
};

}  // namespace sx::ops::tree_ensemble_classifier
