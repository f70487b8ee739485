// SPDX-License-Identifier: Apache-2.0
// Shape: the sizes of a tensor, or of some of its axes.
#include <algorithm>

#include "ops/tensor/shapes.h"

namespace sx::ops::shape {

// The axes from `start` to `end`, clamped.
static std::pair<size_t, size_t> range_of(const Attrs& attrs, size_t rank) {
  const int64_t r = int64_t(rank);
  auto place = [&](int64_t v) { return std::clamp(v < 0 ? v + r : v, int64_t(0), r); };
  const int64_t start = place(attrs.integer("start", 0)), end = place(attrs.integer("end", r));
  return {size_t(start), size_t(std::max(start, end))};
}

static Status infer(Infer& i) {
  if (!i.rank_known(0)) {
    i.set_ranked(0, DType::i64, 1);
    return {};
  }
  const auto [start, end] = range_of(i.attrs(), i.rank(0));
  const auto& dims = i.dims(0);
  i.set_tensor(0, DType::i64, Shape({Dim(int64_t(end - start))}));
  i.set_elements(0, std::vector<Dim>(dims.begin() + int64_t(start), dims.begin() + int64_t(end)));
  return {};
}

static Status eval(Eval& e) {
  const Dims& dims = e.in(0).dims();
  const auto [start, end] = range_of(e.attrs(), dims.size());
  for (size_t k = start; k < end; ++k) e.out(0).mutable_as<int64_t>()[k - start] = dims[k];
  return {};
}

extern const Op op = {
    .name = "Shape",
    .in = {{"data", "T"}},
    .out = {{"shape", "T1"}},
    .types = {{"T", kAll25}, {"T1", DTypeSet::of(DType::i64)}},
    .attrs = {attr_int("start", 0), optional_attr("end", AttrKind::integer)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 25},
                {.since = 24, .types = {{"T", kAll24}}},
                {.since = 23, .types = {{"T", kAll23}}},
                {.since = 21, .types = {{"T", kAll21}}},
                {.since = 19, .types = {{"T", kAll19}}},
                {.since = 15, .types = {{"T", kAll13}}},
                {.since = 13, .attrs = std::vector<AttrDef>()},
                {.since = 1, .types = {{"T", kOldAll}}}},
};

}  // namespace sx::ops::shape
