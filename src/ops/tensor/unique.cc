// SPDX-License-Identifier: Apache-2.0
// Unique: the distinct elements, or the distinct slices of one axis; where each first stands, where each
// went, how many.
#include <algorithm>

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
static int compare(const T* a, const T* b, size_t length, StopCheck<>& stop) {
  for (size_t k = 0; k < length; ++k) {
    stop.leave();
    if (a[k] < b[k]) return -1;
    if (b[k] < a[k]) return 1;
    if (a[k] == b[k]) continue;
    const bool x = a[k] != a[k], y = b[k] != b[k];
    if (x != y) return x ? 1 : -1;
  }
  return 0;
}

struct Groups {
  Workspace<int64_t> first, inverse, counts;  // in output order
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
    return compare(at(a), at(b), length, stop) < 0;
  });
  // Groups by the order of their elements: which one each row is of, the first row of each.
  Workspace<int64_t> of(rows), first(rows);
  size_t groups = 0;
  for (size_t k = 0; k < rows; ++k) {
    stop.leave();
    if (k == 0 || compare(at(order[k - 1]), at(order[k]), length, stop) != 0) first[groups++] = order[k];
    of[size_t(order[k])] = int64_t(groups) - 1;
  }
  Workspace<int64_t> rank(groups), place(groups);
  for (size_t k = 0; k < groups; ++k) {
    stop.leave();
    rank[k] = int64_t(k);
  }
  if (!sorted) {
    std::sort(rank.begin(), rank.end(), [&](int64_t a, int64_t b) {
      stop.leave();
      return first[size_t(a)] < first[size_t(b)];
    });
  }
  Groups out{Workspace<int64_t>(groups), Workspace<int64_t>(rows), Workspace<int64_t>(groups)};
  for (size_t k = 0; k < groups; ++k) {
    stop.leave();
    place[size_t(rank[k])] = int64_t(k);
    out.first[k] = first[size_t(rank[k])];
    out.counts[k] = 0;
  }
  for (size_t k = 0; k < rows; ++k) {
    stop.leave();
    out.inverse[k] = place[size_t(of[k])];
    ++out.counts[size_t(out.inverse[k])];
  }
  return out;
}

static Status put(Eval& e, size_t output, const Workspace<int64_t>& numbers) {
  if (!e.wanted(output)) return {};
  SX_TRY(e.allocate(output, DType::i64, Dims{int64_t(numbers.size())}));
  copy_numbers(numbers.data(), numbers.size(), e.out(output).mutable_as<int64_t>().data());
  return {};
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
  } else if (dtype_is_complex(x.type())) {  // by the real part, then by the imaginary one
    const Reader<complex128> v(slices);
    const auto* parts = reinterpret_cast<const double*>(v.data());
    g = group<double>({parts, v.size() * 2}, rows, length * 2, sorted);
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
  StopCheck<16 * 1024> stop;
  for (int64_t o = 0; o < outer && e.out(0).count() > 0 && !stop(); ++o) {
    for (int64_t k : g.first) {
      if (stop(size_t(inner) + 1)) return {};
      move_run(x, (o * from[axis] + k) * inner, e.out(0), to, inner);
      to += inner;
    }
  }
  SX_TRY(put(e, 1, g.first));
  SX_TRY(put(e, 2, g.inverse));
  return put(e, 3, g.counts);
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
