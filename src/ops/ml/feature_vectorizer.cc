// SPDX-License-Identifier: Apache-2.0
// FeatureVectorizer: the inputs' columns side by side, each cut or filled with zeros to the number of columns
// given.
#include <algorithm>

#include "base/task.h"
#include "ops/ml/columns.h"

namespace sx::ops::feature_vectorizer {

static Status infer(Infer& i) {
  std::vector<int64_t> sizes = i.integers("inputdimensions");
  if (!sizes.empty() && sizes.size() != i.inputs()) {
    return i.fail("there are {} inputs, but {} inputdimensions", i.inputs(), sizes.size());
  }
  Dim total = 0;
  for (int64_t s : sizes) {
    if (s < 0 || s > INT32_MAX) return i.fail("inputdimensions has {}, at least 0 expected", s);
    total = total + Dim(s);
  }
  for (size_t k = sizes.size(); k < i.inputs(); ++k) {
    if (!i.rank_known(k)) {
      total = i.fresh("columns");
      break;
    }
    total = total + columns_of(i.dims(k)).cols;
  }
  infer_rows(i, 0, DType::f32, total);
  for (size_t k = 1; k < i.inputs(); ++k) {
    if (!i.rank_known(0) || !i.rank_known(k)) continue;
    SX_TRY(i.require_equal(columns_of(i.dims(k)).rows, columns_of(i.dims(0)).rows,
                           sx::format("the rows of input {}", k)));
  }
  return {};
}

static Status eval(Eval& e) {
  std::vector<int64_t> sizes = e.integers("inputdimensions");
  for (size_t k = sizes.size(); k < e.inputs(); ++k) sizes.push_back(columns_of(e.in(k)).cols);
  int64_t total = 0;
  for (int64_t s : sizes) total += s;
  const int64_t rows = columns_of(e.in(0)).rows;
  SX_TRY(e.allocate(0, e.widen ? DType::f64 : DType::f32, {rows, total}));
  Writer<double> y(e.out(0));
  y.fill(0);
  int64_t at = 0;
  for (size_t k = 0; k < e.inputs(); ++k) {
    const Columns m = columns_of(e.in(k));
    const Reader<double> x(e.in(k));
    const size_t cols = size_t(std::min(m.cols, sizes[k]));
    for (int64_t r : turns(rows, cols)) copy_numbers(x.data() + r * m.cols, cols, y.data() + r * total + at);
    at += sizes[k];
  }
  return {};
}

extern const Op op = {
    .name = "FeatureVectorizer",
    .domain = kMl,
    .in = {{"X", "T1", kVariadic}},
    .out = {{"Y", "tensor(float)"}},
    .types = {{"T1", kMlNumbers}},
    .attrs = {optional_attr("inputdimensions", AttrKind::integers)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::feature_vectorizer
