// SPDX-License-Identifier: Apache-2.0
// ArrayFeatureExtractor: elements of the last axis by their indices.
#include "ops/engine/move.h"
#include "ops/ml/columns.h"

namespace sx::ops::array_feature_extractor {

static Status infer(Infer& i) {
  if (!i.rank_known(0) || !i.rank_known(1)) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  if (i.rank(0) == 0) return i.fail("X must have an axis");
  Dim count = 1;
  for (Dim d : i.dims(1)) count = count * d;
  std::vector<Dim> dims = i.dims(0);
  dims.back() = count;
  if (dims.size() == 1) dims.insert(dims.begin(), 1);
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  const Reader<int64_t> picks(e.in(1));
  const int64_t size = x.dims().back(), n = int64_t(picks.size());
  for (int64_t p : stoppable(picks)) {
    if (p < 0 || p >= size) return e.fail("index {} is outside the {} features", p, size);
  }
  SX_TRY(check_stop());
  if (n == 0) return e.fail("there are no indices");
  move_each(x, e.out(0), [&](int64_t k) { return k / n * size + picks[size_t(k % n)]; });
  return {};
}

extern const Op op = {
    .name = "ArrayFeatureExtractor",
    .domain = kMl,
    .in = {{"X", "T"}, {"Y", "tensor(int64)"}},
    .out = {{"Z", "T"}},
    .types = {{"T", kMlNumbers | kString}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::array_feature_extractor
