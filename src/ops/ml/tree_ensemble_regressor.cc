// SPDX-License-Identifier: Apache-2.0
// TreeEnsembleRegressor: the leaves of all trees added up, averaged, or the least or greatest of them, for
// each target.
#include <algorithm>

#include "base/task.h"
#include "ops/ml/forest.h"
#include "ops/ml/post_transform.h"

namespace sx::ops::tree_ensemble_regressor {

static int64_t targets_of(const Attrs& attrs) { return attrs.integer("n_targets", 1); }

static Status infer(Infer& i) {
  const int64_t targets = targets_of(i.attrs());
  if (targets < 1) return i.fail("n_targets is {}, at least 1 expected", targets);
  infer_rows(i, 0, DType::f32, targets);
  return {};
}

static Result<Forest::Aggregate> aggregate_named(const Eval& e) {
  constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const std::string name = e.text("aggregate_function");
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return e.fail("aggregate_function '{}' is unknown", name);
  return Forest::Aggregate(found - kNames);
}

static Status eval(Eval& e) {
  const size_t n = size_t(targets_of(e.attrs()));
  SX_ASSIGN(Forest forest, Forest::of_lists(e.attrs(), "target", n));
  SX_ASSIGN(const Post post, post_named(e.text("post_transform")));
  SX_ASSIGN(const Forest::Aggregate aggregate, aggregate_named(e));
  forest.single = !is_wide(e) && e.in(0).type() != DType::f64;
  const std::vector<double> base = numbers_of(e.attrs(), "base_values");
  if (!base.empty() && base.size() != n) return e.fail("{} base_values for {} targets", base.size(), n);
  const Columns m = columns_of(e.in(0));
  if (int64_t(forest.features) > m.cols)
    return e.fail("asks for {} features, X has {}", forest.features, m.cols);
  const Reader<double> x(e.in(0));
  Writer<double> y(e.out(0));
  std::vector<double> sums(n);
  std::vector<bool> seen(n);
  constexpr size_t kTree = 64;  // about as many short turns
  for (int64_t row : turns(m.rows, kTree * forest.roots.size())) {
    SX_TRY(forest.score(x.data() + row * m.cols, aggregate, sums, seen));
    for (size_t t = 0; t < base.size(); ++t) {
      if (seen[t] || n == 1)
        sums[t] = forest.plus(sums[t], base[t]);  // a target that no leaf spoke of stays 0, as in onnxruntime
    }
    finish_scores(post, sums, Second::no);
    std::copy(sums.begin(), sums.end(), y.data() + size_t(row) * n);
  }
  return {};
}

static std::vector<AttrDef> attrs(bool tensors) {
  std::vector<AttrDef> list = forest_attrs(
      tensors,
      {attr_text("aggregate_function", "SUM"), optional_attr("n_targets", AttrKind::integer),
       optional_attr("target_ids", AttrKind::integers), optional_attr("target_nodeids", AttrKind::integers),
       optional_attr("target_treeids", AttrKind::integers),
       optional_attr("target_weights", AttrKind::floatings)});
  if (tensors) list.push_back(optional_attr("target_weights_as_tensor", AttrKind::tensor));
  return list;
}

extern const Op op = {
    .name = "TreeEnsembleRegressor",
    .domain = kMl,
    .in = {{"X", "T"}},
    .out = {{"Y", "tensor(float)"}},
    .types = {{"T", kMlNumbers}},
    .attrs = attrs(true),
    .infer = infer,
    .eval = eval,
    .history = {{.since = 5, .removed = true}, {.since = 3}, {.since = 1, .attrs = attrs(false)}},
};

}  // namespace sx::ops::tree_ensemble_regressor
