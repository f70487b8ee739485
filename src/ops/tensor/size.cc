// SPDX-License-Identifier: Apache-2.0
// Size: how many elements a tensor has.
#include "ops/tensor/shapes.h"

namespace sx::ops::size {

static Status infer(Infer& i) {
  i.set_tensor(0, DType::i64, Shape(std::vector<Dim>()));
  if (i.rank_known(0)) i.set_elements(0, {product_of(i.dims(0))});
  return {};
}

static Status eval(Eval& e) {
  e.out(0).mutable_as<int64_t>()[0] = e.in(0).count();
  return {};
}

extern const Op op = {
    .name = "Size",
    .in = {{"data", "T"}},
    .out = {{"size", "T1"}},
    .types = {{"T", kAll25}, {"T1", DTypeSet::of(DType::i64)}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 25},
                {.since = 24, .types = {{"T", kAll24}}},
                {.since = 23, .types = {{"T", kAll23}}},
                {.since = 21, .types = {{"T", kAll21}}},
                {.since = 19, .types = {{"T", kAll19}}},
                {.since = 13, .types = {{"T", kAll13}}},
                {.since = 1, .types = {{"T", kOldAll}}}},
};

}  // namespace sx::ops::size
