// SPDX-License-Identifier: Apache-2.0
// NonZero: the indices of elements that are not zero (false, the empty string), one column each, in row-major
// order.
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::non_zero {

static Status infer(Infer& i) {
  if (!i.rank_known(0)) {
    i.set_ranked(0, DType::i64, 2);
    return {};
  }
  i.set_tensor(0, DType::i64, Shape({Dim(int64_t(i.rank(0))), i.fresh("nonzero")}));
  return {};
}

// The numbers below n for which `holds`.
template <class F>
static Workspace<int64_t> numbers_where(size_t n, F holds) {
  size_t count = 0;
  for (size_t k : turns(n)) count += holds(k);
  Workspace<int64_t> found;
  found.reserve(count);
  for (size_t k : turns(n)) {
    if (holds(k)) found.push_back(int64_t(k));
  }
  return found;
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  Workspace<int64_t> found;
  if (x.type() == DType::string) {
    const auto texts = x.strings();
    found = numbers_where(texts.size(), [&](size_t k) { return !texts[k].empty(); });
  } else {
    SX_TRY(with_class<kAllClasses>(e, x.type(), [&](auto zero) -> Status {
      const Reader<decltype(zero)> v(x);
      found = numbers_where(v.size(), [&](size_t k) { return v[k] != zero; });
      return {};
    }));
  }
  SX_TRY(e.allocate(0, DType::i64, Dims{int64_t(x.rank()), int64_t(found.size())}));
  const auto out = e.out(0).mutable_as<int64_t>();
  const Dims strides = contiguous_strides(x.dims());
  for (size_t a = 0; a < x.rank(); ++a) {
    for (size_t k : turns(found.size())) out[a * found.size() + k] = found[k] / strides[a] % x.dims()[a];
  }
  return {};
}

extern const Op op = {
    .name = "NonZero",
    .in = {{"X", "T"}},
    .out = {{"Y", "tensor(int64)"}},
    .types = {{"T", kAll13}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 13}, {.since = 9, .types = {{"T", kOldAll}}}},
};

}  // namespace sx::ops::non_zero
