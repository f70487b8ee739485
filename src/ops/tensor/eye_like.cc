// SPDX-License-Identifier: Apache-2.0
// EyeLike: ones on diagonal k of a matrix shaped like the input, zeros elsewhere.
#include <algorithm>

#include "base/task.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::eye_like {

static Status infer(Infer& i) {
  SX_ASSIGN(const DType type, i.dtype("dtype", i.elem(0)));
  if (i.rank_known(0) && i.rank(0) != 2) return i.fail("the input has rank {}, 2 is needed", i.rank(0));
  if (i.rank_known(0))
    i.set_tensor(0, type, i.in(0).shape);
  else
    i.set_ranked(0, type, 2);
  return {};
}

static Status eval(Eval& e) {
  const int64_t rows = e.out(0).dims()[0], columns = e.out(0).dims()[1],
                k = std::clamp(e.integer("k"), -rows, columns);
  return with_class<kRealClasses>(e, e.out(0).type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    Writer<T> y(e.out(0));
    y.fill(zero);
    StopCheck<> stop;
    for (int64_t r = 0; r < rows && !stop(); ++r) {
      if (r + k >= 0 && r + k < columns) y[size_t(r * columns + r + k)] = T(1);
    }
    return {};
  });
}

extern const Op op = {
    .name = "EyeLike",
    .in = {{"input", "T1"}},
    .out = {{"output", "T2"}},
    .types = {{"T1", kNumbers | kBool}, {"T2", kNumbers | kBool}},
    .attrs = {optional_attr("dtype", AttrKind::integer), attr_int("k", 0)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 22},
                {.since = 9, .types = {{"T1", kOldNumbers | kBool}, {"T2", kOldNumbers | kBool}}}},
};

}  // namespace sx::ops::eye_like
