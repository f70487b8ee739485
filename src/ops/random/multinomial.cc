// SPDX-License-Identifier: Apache-2.0
// Multinomial: classes drawn by their unnormalised log probabilities, `sample_size` for each row.
#include <algorithm>
#include <cmath>

#include "base/workspace.h"
#include "ops/common/checks.h"
#include "ops/engine/codec.h"
#include "ops/random/dice.h"

namespace sx::ops::multinomial {

static Status infer(Infer& i) {
  SX_ASSIGN(const DType type, i.dtype("dtype", DType::i32));
  SX_TRY(require_rank(i, 0, 2, "input"));
  if (i.integer("sample_size") < 0) return i.fail("sample_size is {}", i.integer("sample_size"));
  const Dim rows = i.rank_known(0) ? i.dim(0, 0) : i.fresh("rows");
  i.set_tensor(0, type, Shape({rows, i.integer("sample_size")}));
  return {};
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  if (x.dims()[1] == 0) return e.fail("there are no classes to draw from");
  const size_t rows = size_t(x.dims()[0]), classes = size_t(x.dims()[1]),
               draws = size_t(e.integer("sample_size"));
  Dice dice(e);
  const Reader<double> in(x);
  Writer<int64_t> y(e.out(0));
  Workspace<double> sums(classes);
  StopCheck<> stop;
  for (size_t r = 0; r < rows && !stop(classes); ++r) {
    double top = in[r * classes], sum = 0;
    for (double v : stoppable(in.part(r * classes, classes))) top = std::max(top, v);
    for (size_t c : turns(classes)) sums[c] = sum += std::exp(in[r * classes + c] - top);
    for (size_t k = 0; k < draws && !stop(); ++k) {
      const auto at = std::upper_bound(sums.begin(), sums.end() - 1, dice.uniform() * sum);
      y[r * draws + k] = at - sums.begin();
    }
  }
  return {};
}

extern const Op op = {
    .name = "Multinomial",
    .in = {{"input", "T1"}},
    .out = {{"output", "T2"}},
    .types = {{"T1", kFloats}, {"T2", kIndices}},
    .attrs = {attr_int("dtype", 6), attr_int("sample_size", 1), kSeed},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 22}, {.since = 7, .types = {{"T1", kOldFloats}}}},
    .pure = false,
};

}  // namespace sx::ops::multinomial
