// SPDX-License-Identifier: Apache-2.0
// RMSNormalization: x / sqrt(mean(x²) + epsilon) * scale over the axes from `axis` on.
#include <cmath>

#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/elements.h"
#include "ops/common/spread.h"
#include "ops/engine/codec.h"

namespace sx::ops::rms_normalization {

static Status infer(Infer& i) {
  i.set_tensor(0, i.elem(1), i.in(0).shape);
  if (!i.rank_known(0)) return {};
  SX_TRY(i.axis(i.integer("axis"), i.rank(0)));
  SX_TRY(require_spreads(i, i.in(1).shape, i.in(0).shape, "scale and X"));
  return {};
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  SX_ASSIGN(const size_t axis, e.axis(e.integer("axis"), x.rank()));
  const int64_t rows = product(std::span(x.dims()).first(axis)),
                n = product(std::span(x.dims()).subspan(axis));
  const double epsilon = e.floating("epsilon");
  return with_class<kFloatClasses>(e, x.type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> from(x), scale(e.in(1));
    const Spread scale_at(e.in(1).dims(), x.dims());
    Writer<T> y(e.out(0));
    for (int64_t r : turns(rows, size_t(n))) {
      const auto row = from.part(size_t(r * n), size_t(n));
      double squares = 0;
      for (T v : stoppable(row)) squares += double(v) * v;
      const double rms = std::sqrt(squares / double(n) + epsilon);
      for (int64_t k : turns(n)) {
        y[size_t(r * n + k)] = T(row[size_t(k)] / rms) * scale[size_t(scale_at.at(r * n + k))];
      }
    }
    return {};
  });
}

extern const Op op = {
    .name = "RMSNormalization",
    .in = {{"X", "T"}, {"scale", "V"}},
    .out = {{"Y", "V"}},
    .types = {{"T", kFloats}, {"V", kFloats}},
    .attrs = {attr_int("axis", -1), attr_float("epsilon", 1e-5f), attr_int("stash_type", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 23}},
};

}  // namespace sx::ops::rms_normalization
