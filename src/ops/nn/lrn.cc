// SPDX-License-Identifier: Apache-2.0
// LRN: x / (bias + alpha / size * sum of squares of `size` neighbouring channels) ^ beta.
#include <algorithm>
#include <cmath>

#include "base/task.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/engine/codec.h"

namespace sx::ops::lrn {

static Status infer(Infer& i) {
  if (i.rank_known(0) && i.rank(0) < 2) return i.fail("X has rank {}, at least 2 expected", i.rank(0));
  if (i.integer("size") < 1) return i.fail("size is {}, at least 1 expected", i.integer("size"));
  return infer_same(i);
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  const int64_t size = e.integer("size"), batch = x.dims()[0], channels = x.dims()[1];
  const int64_t plane = product(std::span(x.dims()).subspan(2));
  const double factor = double(e.floating("alpha")) / double(size), beta = e.floating("beta"),
               bias = e.floating("bias");
  return with_class<kFloatClasses>(e, x.type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> from(x);
    Writer<T> y(e.out(0));
    for (int64_t k : turns(batch * channels * plane, size_t(std::min(size, channels)))) {
      const int64_t c = k / plane % channels;
      const int64_t first = std::max<int64_t>(0, c - (size - 1) / 2),
                    last = std::min(channels - 1, c + size / 2);
      double squares = 0;
      for (int64_t j : turns(last - first + 1)) {
        const double v = from[size_t(k + (first + j - c) * plane)];
        squares += v * v;
      }
      y[size_t(k)] = T(from[size_t(k)] / std::pow(bias + factor * squares, beta));
    }
    return {};
  });
}

extern const Op op = {
    .name = "LRN",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_float("alpha", 1e-4f), attr_float("beta", 0.75f), attr_float("bias", 1),
              required_attr("size", AttrKind::integer)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 13}, {.since = 1, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::lrn
