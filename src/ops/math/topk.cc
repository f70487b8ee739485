// SPDX-License-Identifier: Apache-2.0
// TopK: the k largest (or smallest) elements along an axis, best first, and where they stood.
#include <algorithm>

#include "base/workspace.h"
#include "graph/infer.h"
#include "graph/lift.h"
#include "graph/op.h"
#include "ops/common/checks.h"
#include "ops/engine/codec.h"

namespace sx::ops::topk {

static Status infer(Infer& i) {
  SX_TRY(require_one(i, 1, "K"));
  for (size_t o = 0; o < i.outputs(); ++o) i.set_unknown_shape(o, o == 0 ? i.elem(0) : DType::i64);
  if (!i.rank_known(0)) return {};
  SX_ASSIGN(const size_t axis, i.axis(i.integer("axis"), i.rank(0)));
  Shape shape = i.in(0).shape;
  const std::optional<Dim> k = one_of(i, 1);
  const Dim size = shape.dims[axis], wanted = k ? *k : i.fresh("k");
  if (wanted.is_constant() &&
      (wanted.constant() < 0 || (size.is_constant() && wanted.constant() > size.constant()))) {
    return i.fail("K is {}, axis {} has {} elements", wanted.constant(), axis, to_string(size));
  }
  shape.dims[axis] = wanted;
  for (size_t o = 0; o < i.outputs(); ++o) i.set_tensor(o, o == 0 ? i.elem(0) : DType::i64, shape);
  return {};
}

// The first `k` of the indices 0 … n-1 in the order that `before` gives to elements; the lower index among
// equals.
template <class T>
static void select(const T* x, size_t stride, size_t k, bool largest, Workspace<int64_t>& order,
                   StopCheck<>& stop) {
  for (size_t j = 0; j < order.size(); ++j) {
    stop.leave();
    order[j] = int64_t(j);
  }
  std::partial_sort(order.begin(), order.begin() + ptrdiff_t(k), order.end(), [&](int64_t p, int64_t q) {
    stop.leave();
    const T a = x[size_t(p) * stride], b = x[size_t(q) * stride];
    const bool na = a != a, nb = b != b;  // NaN is the largest
    if (na || nb) return na == nb ? p < q : na == largest;
    return a != b ? (largest ? a > b : a < b) : p < q;
  });
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  SX_ASSIGN(const size_t axis, e.axis(e.integer("axis"), x.rank()));
  SX_ASSIGN(const auto wanted, e.ints_of(1));
  if (wanted.size() != 1) return e.fail("K is {}, one element expected", to_string(e.in(1).dims()));
  const int64_t n = x.dims()[axis], k = wanted[0];
  if (k < 0 || k > n) return e.fail("K is {}, axis {} has {} elements", k, axis, n);
  Dims dims = x.dims();
  dims[axis] = k;
  SX_TRY(e.allocate(0, x.type(), dims));
  if (e.wanted(1)) SX_TRY(e.allocate(1, DType::i64, dims));
  if (e.out(0).count() == 0) return {};
  const bool largest = e.integer("largest") != 0;
  const int64_t outer = product(std::span(dims.data(), axis)),
                inner = product(std::span(dims).subspan(axis + 1));
  return with_class<kRealClasses>(e, x.type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> from(x);
    Writer<T> values(e.out(0));
    int64_t* indices = e.wanted(1) ? e.out(1).mutable_as<int64_t>().data() : nullptr;
    Workspace<int64_t> order(static_cast<size_t>(n));
    StopCheck<> stop;
    for (int64_t line = 0; line < outer * inner && !stop(size_t(n)); ++line) {
      const int64_t first = line / inner * n * inner + line % inner,
                    to = line / inner * k * inner + line % inner;
      select(from.data() + first, size_t(inner), size_t(k), largest, order, stop);
      for (int64_t j : turns(k)) {
        values[size_t(to + j * inner)] = from[size_t(first + order[size_t(j)] * inner)];
        if (indices) indices[to + j * inner] = order[size_t(j)];
      }
    }
    return {};
  });
}

static Status lift_from_1(Lift& l) {
  l.set_input(1, l.ints({l.attrs().integer("k", 0)}));
  l.attrs().erase("k");
  return {};
}

extern const Op op = {
    .name = "TopK",
    .in = {{"X", "T"}, {"K", "tensor(int64)"}},
    .out = {{"Values", "T"}, {"Indices", "I"}},
    .types = {{"T", kNumbers}, {"I", DTypeSet::of(DType::i64)}},
    .attrs = {attr_int("axis", -1), attr_int("largest", 1), attr_int("sorted", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 24},
                {.since = 11, .types = {{"T", kOldNumbers}}},
                {.since = 10, .types = {{"T", kOldFloats}}, .attrs = {{attr_int("axis", -1)}}},
                {.since = 1,
                 .attrs = {{attr_int("axis", -1), required_attr("k", AttrKind::integer)}},
                 .in = {{{"X", "T"}}},
                 .lift = lift_from_1}},
};

}  // namespace sx::ops::topk
