// SPDX-License-Identifier: Apache-2.0
// TreeEnsemble: trees with leaves of their own and tests for membership of a set; scores for each target.
#include "base/task.h"
#include "ops/ml/forest.h"
#include "ops/ml/post_transform.h"

namespace sx::ops::tree_ensemble {

static int64_t targets_of(const Attrs& attrs) { return attrs.integer("n_targets", 1); }

static Status infer(Infer& i) {
  const int64_t targets = targets_of(i.attrs());
  if (targets < 1) return i.fail("n_targets is {}, at least 1 expected", targets);
  const int64_t aggregate = i.integer("aggregate_function"), post = i.integer("post_transform");
  if (aggregate < 0 || aggregate > 3) return i.fail("aggregate_function {} is unknown", aggregate);
  if (post < 0 || post > 4) return i.fail("post_transform {} is unknown", post);
  infer_rows(i, 0, i.elem(0), targets);
  return {};
}

static Status eval(Eval& e) {
  const size_t n = size_t(targets_of(e.attrs()));
  SX_ASSIGN(Forest forest, Forest::of_tensors(e.attrs(), n));
  forest.single = !is_wide(e) && e.in(0).type() != DType::f64;
  const int64_t aggregate = e.integer("aggregate_function"), post = e.integer("post_transform");
  const Columns m = columns_of(e.in(0));
  if (int64_t(forest.features) > m.cols)
    return e.fail("asks for {} features, X has {}", forest.features, m.cols);
  const Reader<double> x(e.in(0));
  Writer<double> y(e.out(0));
  std::vector<double> sums(n);
  std::vector<bool> seen(n);
  constexpr size_t kTree = 64;  // about as many short turns
  for (int64_t row : turns(m.rows, kTree * forest.roots.size())) {
    SX_TRY(forest.score(x.data() + row * m.cols, Forest::Aggregate(aggregate), sums, seen));
    finish_scores(Post(post), sums, Second::no);
    std::copy(sums.begin(), sums.end(), y.data() + size_t(row) * n);
  }
  return {};
}

static std::vector<AttrDef> attrs() {
  std::vector<AttrDef> list = {attr_int("aggregate_function", 1),
                               optional_attr("n_targets", AttrKind::integer),
                               attr_int("post_transform", 0),
                               optional_attr("nodes_missing_value_tracks_true", AttrKind::integers),
                               optional_attr("membership_values", AttrKind::tensor),
                               optional_attr("nodes_hitrates", AttrKind::tensor)};
  for (std::string_view name : {"leaf_targetids", "nodes_falseleafs", "nodes_falsenodeids",
                                "nodes_featureids", "nodes_trueleafs", "nodes_truenodeids", "tree_roots"}) {
    list.push_back(required_attr(name, AttrKind::integers));
  }
  for (std::string_view name : {"leaf_weights", "nodes_modes", "nodes_splits"}) {
    list.push_back(required_attr(name, AttrKind::tensor));
  }
  return list;
}

extern const Op op = {
    .name = "TreeEnsemble",
    .domain = kMl,
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kOldFloats}},
    .attrs = attrs(),
    .infer = infer,
    .eval = eval,
    .history = {{.since = 5}},
};

}  // namespace sx::ops::tree_ensemble
