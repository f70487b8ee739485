// SPDX-License-Identifier: Apache-2.0
// StringConcat: strings end to end, with broadcasting.
#include "base/task.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/engine/move.h"
#include "tensor/text_account.h"

namespace sx::ops::string_concat {

// Strides of x seen under the dims of the output: 0 along axes that it is spread over.
static Dims spread(const Tensor& x, const Dims& dims) {
  const Dims own = contiguous_strides(x.dims());
  Dims strides(dims.size(), 0);
  const size_t skip = dims.size() - x.rank();
  for (size_t k = 0; k < x.rank(); ++k) strides[skip + k] = x.dims()[k] == 1 ? 0 : own[k];
  return strides;
}

static Status eval(Eval& e) {
  const Tensor &a = e.in(0), &b = e.in(1);
  const Dims& dims = e.out(0).dims();
  if (e.out(0).count() == 0) return {};
  const Dims sa = spread(a, dims), sb = spread(b, dims);
  const std::span<std::string> y = e.out(0).mutable_strings();
  Odometer at(dims);
  TextAccount texts(e.out(0));
  StopCheck<1024 * 1024> stop;
  for (size_t k = 0; k < y.size(); ++k, at.next()) {
    int64_t ia = 0, ib = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
      ia += at.at()[d] * sa[d];
      ib += at.at()[d] * sb[d];
    }
    const std::string &left = a.strings()[size_t(ia)], &right = b.strings()[size_t(ib)];
    const size_t letters = left.size() + right.size();
    if (stop(letters + 64) || !texts.take(letters)) return {};
    y[k] = left + right;
  }
  return {};
}

extern const Op op = {
    .name = "StringConcat",
    .in = {{"X", "T"}, {"Y", "T"}},
    .out = {{"Z", "T"}},
    .types = {{"T", kString}},
    .infer = infer_broadcast,
    .eval = eval,
    .history = {{.since = 20}},
};

}  // namespace sx::ops::string_concat
