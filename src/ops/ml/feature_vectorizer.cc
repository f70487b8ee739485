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
    total = total + (i.rank(k) == 0 ? Dim(1) : i.dims(k).back());
  }
  infer_rows(i, 0, DType::f32, total);
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
  StopCheck<256> stop;
  for (size_t k = 0; k < e.inputs() && !stop(); ++k) {
    const Columns m = columns_of(e.in(k));
    if (m.rows != rows) return e.fail("input {} has {} rows, input 0 has {}", k, m.rows, rows);
    const Reader<double> x(e.in(k));
    for (int64_t r = 0; r < rows && !stop(); ++r) {
      std::copy_n(x.data() + r * m.cols, std::min(m.cols, sizes[k]), y.data() + r * total + at);
    }
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
