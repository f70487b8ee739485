// SPDX-License-Identifier: Apache-2.0
#include "ops/common/channel_norm.h"

#include <cmath>

#include "ops/engine/codec.h"

namespace sx::ops {

Status infer_channel_norm(Infer& i) {
  SX_TRY(infer_same(i));
  if (!i.rank_known(0)) return {};
  if (i.rank(0) < 2) return i.fail("the input has rank {}, at least 2 expected", i.rank(0));
  for (size_t p = 1; p < 3; ++p) {
    if (!i.rank_known(p)) continue;
    if (i.rank(p) != 1) return i.fail("input {} has rank {}, 1 expected", p, i.rank(p));
    SX_TRY(i.require_equal(i.dim(p, 0), i.dim(0, 1),
                           format("the length of input {} and the channels of input 0", p)));
  }
  return {};
}

Status eval_channel_norm(Eval& e, int64_t groups) {
  const Tensor& x = e.in(0);
  const int64_t channels = x.dims()[1], batch = x.dims()[0];
  if (e.out(0).count() == 0) return {};
  const int64_t plane = product(std::span(x.dims()).subspan(2)), n = channels / groups * plane;
  const double epsilon = e.floating("epsilon");
  return with_class<kFloatClasses>(e, x.type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> from(x), scale(e.in(1)), bias(e.in(2));
    Writer<T> y(e.out(0));
    for (int64_t g : turns(batch * groups, size_t(n))) {
      const auto group = from.part(size_t(g * n), size_t(n));
      double mean = 0, variance = 0;
      for (T v : stoppable(group)) mean += v;
      mean /= double(n);
      for (T v : stoppable(group)) variance += (v - mean) * (v - mean);
      const double inverse = 1 / std::sqrt(variance / double(n) + epsilon);
      for (int64_t k : turns(n)) {
        const size_t c = size_t(g % groups * (channels / groups) + k / plane);
        y[size_t(g * n + k)] = T((group[size_t(k)] - mean) * inverse) * scale[c] + bias[c];
      }
    }
    return {};
  });
}

}  // namespace sx::ops
