// SPDX-License-Identifier: Apache-2.0
// Equal: a == b, strings and booleans too.
#include "base/task.h"
#include "ops/common/elements.h"
#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"
#include "ops/engine/move.h"

namespace sx::ops::equal {

static Status infer(Infer& i) { return infer_comparison(i, decide_equal); }

// Element steps of `t` inside the output, 0 where an axis is spread.
static Dims steps(const Tensor& t, size_t rank) {
  const Dims strides = contiguous_strides(t.dims());
  Dims s(rank, 0);
  for (size_t k = 0; k < t.rank(); ++k) s[rank - t.rank() + k] = t.dims()[k] == 1 ? 0 : strides[k];
  return s;
}

static Status compare_strings(Eval& e) {
  const auto a = e.in(0).strings(), b = e.in(1).strings();
  Tensor& out = e.out(0);
  const Dims sa = steps(e.in(0), out.rank()), sb = steps(e.in(1), out.rank());
  uint8_t* y = static_cast<uint8_t*>(out.mutable_data());
  Odometer at(out.dims());
  StopCheck<1024 * 1024> stop;
  for (int64_t k = 0; k < out.count(); ++k, at.next()) {
    int64_t ia = 0, ib = 0;
    for (size_t d = 0; d < out.rank(); ++d) ia += at.at()[d] * sa[d], ib += at.at()[d] * sb[d];
    if (stop(a[size_t(ia)].size() + 64)) break;
    y[k] = a[size_t(ia)] == b[size_t(ib)];
  }
  return {};
}

static Status eval(Eval& e) {
  if (e.in(0).type() == DType::string) return compare_strings(e);
  return map2(e, [](auto x, auto y) { return x == y; });
}

extern const Op op = {
    .name = "Equal",
    .in = {{"A", "T"}, {"B", "T"}},
    .out = {{"C", "T1"}},
    .types = {{"T", kNumbers | kBool | kString}, {"T1", kBool}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 19},
                {.since = 13, .types = {{"T", kNumbers | kBool}}},
                {.since = 11, .types = {{"T", kOldNumbers | kBool}}},
                {.since = 7, .types = {{"T", kIndices | kBool}}},
                {.since = 1, .attrs = {{kOldAxis, kOldBroadcast}}, .lift = lift_axis_broadcast}},
};

}  // namespace sx::ops::equal
