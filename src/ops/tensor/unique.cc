// SPDX-License-Identifier: Apache-2.0
// Unique: the distinct elements, or the distinct slices of one axis; where each first stands, where each
// went, how many.
#include <algorithm>
#include <numeric>

#include "base/workspace.h"
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::unique {

static Status infer(Infer& i) {
  const Dim n = i.fresh("unique");
  if (!i.has_attr("axis")) {
    i.set_tensor(0, i.elem(0), Shape({n}));
  } else if (i.rank_known(0)) {
    std::vector<Dim> dims = i.dims(0);
    SX_ASSIGN(const size_t axis, i.axis(i.integer("axis"), dims.size()));
    dims[axis] = n;
    i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  } else {
    i.set_unknown_shape(0, i.elem(0));
  }
  i.set_tensor(1, DType::i64, Shape({n}));
  i.set_ranked(2, DType::i64, 1);
  i.set_tensor(3, DType::i64, Shape({n}));
  return {};
}

// Slice k of `rows` consecutive runs, each `length` long: compared element by element. NaNs stand last.
template <class T>
static int compare(const T* a, const T* b, size_t length) {
  for (size_t k = 0; k < length; ++k) {
    if (a[k] < b[k]) return -1;
    if (b[k] < a[k]) return 1;
    if (a[k] == b[k]) continue;
    const bool x = a[k] != a[k], y = b[k] != b[k];
    if (x != y) return x ? 1 : -1;
  }
  return 0;
}

struct Groups {
  std::vector<int64_t> first, inverse, counts;  // in output order
};

template <class T>
static Groups group(std::span<const T> v, size_t rows, size_t length, bool sorted) {
  Workspace<int64_t> order(rows);
  StopCheck<> stop;
  for (size_t k = 0; k < rows; ++k) {
    stop.leave();
    order[k] = int64_t(k);
  }
  auto at = [&](int64_t k) { return v.data() + size_t(k) * length; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    stop.leave();
    return compare(at(a), at(b), length) < 0;
  });
  Groups g;
  Workspace<int64_t> of(rows);
  for (size_t k = 0; k < rows; ++k) {
    stop.leave();
    if (k == 0 || compare(at(order[k - 1]), at(order[k]), length) != 0) {
      g.first.push_back(order[k]);
      g.counts.push_back(0);
    }
    of[size_t(order[k])] = int64_t(g.first.size()) - 1;
    ++g.counts.back();
  }
  std::vector<int64_t> rank(g.first.size()), place(g.first.size());
  std::iota(rank.begin(), rank.end(), 0);
  if (!sorted)
    std::sort(rank.begin(), rank.end(),
              [&](int64_t a, int64_t b) { return g.first[size_t(a)] < g.first[size_t(b)]; });
  Groups out;
  for (size_t k = 0; k < rank.size(); ++k) {
    place[size_t(rank[k])] = int64_t(k);
    out.first.push_back(g.first[size_t(rank[k])]);
    out.counts.push_back(g.counts[size_t(rank[k])]);
  }
  for (int64_t k : of) out.inverse.push_back(place[size_t(k)]);
  return out;
}

static Status eval(Eval& e) {
  Tensor x = e.in(0);
  size_t axis = 0;
  if (e.has_attr("axis")) {
    SX_ASSIGN(axis, e.axis(e.integer("axis"), x.rank()));
  } else {
    SX_ASSIGN(x, x.reshaped(Dims{x.count()}));
  }
  // The axis comes first, so that a slice is one run.
  std::vector<size_t> order{axis};
  for (size_t k = 0; k < x.rank(); ++k) {
    if (k != axis) order.push_back(k);
  }
  SX_ASSIGN(const Tensor slices, permuted(x, order));
  const size_t rows = size_t(x.dims()[axis]), length = rows ? size_t(x.count()) / rows : 0;
  const bool sorted = e.integer("sorted") != 0;
  Groups g;
  if (x.type() == DType::string) {
    g = group(slices.strings(), rows, length, sorted);
  } else {
    SX_TRY(with_class<kRealClasses>(e, x.type(), [&](auto zero) -> Status {
      using T = decltype(zero);
      const Reader<T> v(slices);
      g = group<T>(v, rows, length, sorted);
      return {};
    }));
  }
  Dims dims = x.dims();
  dims[axis] = int64_t(g.first.size());
  SX_TRY(e.allocate(0, x.type(), dims));
  const std::span<const int64_t> from = x.dims();
  const int64_t outer = product(from.first(axis)), inner = product(from.subspan(axis + 1));
  int64_t to = 0;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t k : g.first) {
      move_run(x, (o * from[axis] + k) * inner, e.out(0), to, inner);
      to += inner;
    }
  }
  if (e.wanted(1)) e.set(1, Value(Tensor::vector_i64(g.first)));
  if (e.wanted(2)) e.set(2, Value(Tensor::vector_i64(g.inverse)));
  if (e.wanted(3)) e.set(3, Value(Tensor::vector_i64(g.counts)));
  return {};
}

extern const Op op = {
    .name = "Unique",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"},
            {"indices", "tensor(int64)", kOptional},
            {"inverse_indices", "tensor(int64)", kOptional},
            {"counts", "tensor(int64)", kOptional}},
    .types = {{"T", kAll13}},
    .attrs = {optional_attr("axis", AttrKind::integer), attr_int("sorted", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 28}, {.since = 11, .types = {{"T", kOldAll}}}},
};

}  // namespace sx::ops::unique
