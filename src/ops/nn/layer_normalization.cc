// SPDX-License-Identifier: Apache-2.0
// LayerNormalization: (x - mean) / sqrt(variance + epsilon) * scale + bias over the axes from `axis` on.
#include <cmath>

#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/elements.h"
#include "ops/common/spread.h"
#include "ops/engine/codec.h"

namespace sx::ops::layer_normalization {

static Status infer(Infer& i) {
  i.out(0) = i.in(0);
  SX_ASSIGN(const DType stash, i.dtype("stash_type"));
  Shape kept = i.in(0).shape;
  if (kept.known) {
    SX_ASSIGN(const size_t axis, i.axis(i.integer("axis"), kept.rank()));
    for (size_t k = axis; k < kept.rank(); ++k) kept.dims[k] = 1;
    for (size_t p = 1; p < 3; ++p) {
      if (i.has(p))
        SX_TRY(require_spreads(i, i.in(p).shape, i.in(0).shape, p == 1 ? "Scale and X" : "B and X"));
    }
  }
  for (size_t o = 1; o < i.outputs(); ++o) i.set_tensor(o, stash, kept);
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
    const Reader<T> from(x), scale(e.in(1)), bias(e.has(2) ? e.in(2) : Tensor());
    const Spread scale_at(e.in(1).dims(), x.dims()), bias_at(e.has(2) ? e.in(2).dims() : Dims(), x.dims());
    Writer<T> y(e.out(0));
    Workspace<T> means(static_cast<size_t>(rows)), inverses(static_cast<size_t>(rows));
    for (int64_t r : turns(rows, size_t(n))) {
      const auto row = from.part(size_t(r * n), size_t(n));
      double mean = 0, variance = 0;
      for (T v : stoppable(row)) mean += v;
      mean /= double(n);
      for (T v : stoppable(row)) variance += (v - mean) * (v - mean);
      const double inverse = 1 / std::sqrt(variance / double(n) + epsilon);
      for (int64_t k : turns(n)) {
        const int64_t at = r * n + k;
        const T normal = T((row[size_t(k)] - mean) * inverse) * scale[size_t(scale_at.at(at))];
        y[size_t(at)] = e.has(2) ? normal + bias[size_t(bias_at.at(at))] : normal;
      }
      means[size_t(r)] = T(mean);
      inverses[size_t(r)] = T(inverse);
    }
    if (e.wanted(1)) encode(means.data(), means.size(), e.out(1).type(), e.out(1).mutable_data(), 0, 1);
    if (e.wanted(2)) encode(inverses.data(), inverses.size(), e.out(2).type(), e.out(2).mutable_data(), 0, 1);
    return {};
  });
}

extern const Op op = {
    .name = "LayerNormalization",
    .in = {{"X", "T"}, {"Scale", "T"}, {"B", "T", kOptional}},
    .out = {{"Y", "T"}, {"Mean", "U", kOptional}, {"InvStdDev", "U", kOptional}},
    .types = {{"T", kFloats}, {"U", DTypeSet::of(DType::f32, DType::bf16)}},
    .attrs = {attr_int("axis", -1), attr_float("epsilon", 1e-5f), attr_int("stash_type", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 17}},
};

}  // namespace sx::ops::layer_normalization
