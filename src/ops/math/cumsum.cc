// SPDX-License-Identifier: Apache-2.0
// CumSum: running sums along one axis, from either end, with or without the element itself.
#include "base/task.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/engine/codec.h"
#include "ops/engine/wrap.h"

namespace sx::ops::cumsum {

static constexpr DTypeSet kNewer = DTypeSet::of(DType::f16, DType::bf16);
static constexpr DTypeSet kSums =
    DTypeSet::of(DType::u32, DType::u64, DType::i32, DType::i64, DType::f32, DType::f64);

static Status eval(Eval& e) {
  SX_ASSIGN(const std::vector<int64_t> where, e.ints_of(1));
  if (where.size() != 1) return e.fail("axis must be one number, it has {}", where.size());
  const Dims& dims = e.in(0).dims();
  SX_ASSIGN(const size_t axis, e.axis(where[0], dims.size()));
  const size_t n = size_t(dims[axis]),
               inner = size_t(product(std::span(dims.begin() + axis + 1, dims.end())));
  const bool reverse = e.integer("reverse") != 0, exclusive = e.integer("exclusive") != 0;
  return with_class<kRealClasses>(e, e.in(0).type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> x(e.in(0));
    Writer<T> y(e.out(0));
    const size_t rows = n * inner == 0 ? 0 : x.size() / (n * inner);
    StopCheck<> stop;
    for (size_t row = 0; row < rows * inner && !stop(); ++row) {
      const size_t first = row / inner * n * inner + row % inner;
      T sum = 0;
      for (size_t k = 0; k < n && !stop(); ++k) {
        const size_t at = first + (reverse ? n - 1 - k : k) * inner;
        const T next = wrap_add(sum, x[at]);
        y[at] = exclusive ? sum : next;
        sum = next;
      }
    }
    return {};
  });
}

extern const Op op = {
    .name = "CumSum",
    .in = {{"x", "T"}, {"axis", "T2"}},
    .out = {{"y", "T"}},
    .types = {{"T", kSums | kNewer}, {"T2", kIndices}},
    .attrs = {attr_int("exclusive", 0), attr_int("reverse", 0)},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 14}, {.since = 11, .types = {{"T", kSums}}}},
};

}  // namespace sx::ops::cumsum
