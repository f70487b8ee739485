// SPDX-License-Identifier: Apache-2.0
// Det: the determinant of each square matrix in the last two axes.
#include <cmath>

#include "base/workspace.h"
#include "ops/common/elementwise.h"

namespace sx::ops::det {

static Status infer(Infer& i) {
  if (!i.rank_known(0)) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  std::vector<Dim> dims = i.dims(0);
  if (dims.size() < 2) return i.fail("X has rank {}, at least 2 expected", dims.size());
  SX_TRY(i.require_equal(dims[dims.size() - 2], dims.back(), "the rows and columns of X"));
  dims.resize(dims.size() - 2);
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

// Elimination with the largest pivot of each column; `m` is overwritten.
static double determinant(Workspace<double>& m, size_t n) {
  double det = 1;
  StopCheck<64 * 1024> stop;
  for (size_t c = 0; c < n && !stop(n); ++c) {
    size_t pivot = c;
    for (size_t r = c + 1; r < n; ++r) {
      if (std::fabs(m[r * n + c]) > std::fabs(m[pivot * n + c])) pivot = r;
    }
    if (m[pivot * n + c] == 0) return 0;
    if (pivot != c) {
      for (size_t k = 0; k < n; ++k) std::swap(m[pivot * n + k], m[c * n + k]);
      det = -det;
    }
    det *= m[c * n + c];
    for (size_t r = c + 1; r < n && !stop(n - c); ++r) {
      const double f = m[r * n + c] / m[c * n + c];
      for (size_t k = c; k < n; ++k) m[r * n + k] -= f * m[c * n + k];
    }
  }
  return det;
}

static Status eval(Eval& e) {
  const Reader<double> x(e.in(0));
  Writer<double> y(e.out(0));
  const size_t n = size_t(e.in(0).dims().back());
  Workspace<double> m(y.size() > 0 ? n * n : 0);
  for (size_t k : turns(y.size(), n * n * n)) {
    copy_numbers(x.data() + k * n * n, n * n, m.data());
    y[k] = determinant(m, n);
  }
  return {};
}

extern const Op op = {
    .name = "Det",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 22}, {.since = 11, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::det
