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

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  std::vector<int64_t> found;
  if (x.type() == DType::string) {
    for (size_t k = 0; k < x.strings().size(); ++k) {
      if (!x.strings()[k].empty()) found.push_back(int64_t(k));
    }
  } else {
    SX_TRY(with_class<kAllClasses>(e, x.type(), [&](auto zero) -> Status {
      const Reader<decltype(zero)> v(x);
      for (size_t k = 0; k < v.size(); ++k) {
        if (v[k] != zero) found.push_back(int64_t(k));
      }
      return {};
    }));
  }
  SX_TRY(e.allocate(0, DType::i64, Dims{int64_t(x.rank()), int64_t(found.size())}));
  const auto out = e.out(0).mutable_as<int64_t>();
  const Dims strides = contiguous_strides(x.dims());
  for (size_t a = 0; a < x.rank(); ++a) {
    for (size_t k = 0; k < found.size(); ++k) out[a * found.size() + k] = found[k] / strides[a] % x.dims()[a];
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
