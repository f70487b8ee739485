// SPDX-License-Identifier: Apache-2.0
// Gemm: alpha * A' * B' + beta * C, where ' transposes if asked and C spreads over the product.
#include "ops/common/elements.h"
#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"
#include "ops/engine/contract.h"

namespace sx::ops::gemm {

static Status infer(Infer& i) {
  for (size_t k = 0; k < 2; ++k) {
    if (i.rank_known(k) && i.rank(k) != 2)
      return i.fail("{} has rank {}, 2 expected", k == 0 ? "A" : "B", i.rank(k));
  }
  const bool ta = i.integer("transA") != 0, tb = i.integer("transB") != 0;
  const Dim m = i.rank_known(0) ? i.dim(0, ta ? 1 : 0) : i.fresh("m");
  const Dim n = i.rank_known(1) ? i.dim(1, tb ? 0 : 1) : i.fresh("n");
  if (i.rank_known(0) && i.rank_known(1)) {
    SX_TRY(i.require_equal(i.dim(0, ta ? 0 : 1), i.dim(1, tb ? 1 : 0), "the summed axis of A and of B"));
  }
  const Shape out({m, n});
  if (i.rank_known(2)) {
    if (i.rank(2) > 2) return i.fail("C has rank {}, at most 2 expected", i.rank(2));
    SX_TRY(require_spreads(i, i.in(2).shape, out, "C and the product"));
  }
  i.set_tensor(0, i.elem(0), out);
  return {};
}

// alpha and beta are float32 also where the elements are integers.
template <class T>
static T scaled(float factor, T x) {
  if constexpr (std::is_floating_point_v<T>)
    return factor * x;
  else
    return factor == 1 ? x : cut_off<T>(double(factor) * double(x));
}

static Status eval(Eval& e) {
  const bool ta = e.integer("transA") != 0, tb = e.integer("transB") != 0;
  const float alpha = e.floating("alpha"), beta = e.floating("beta");
  const Tensor &a = e.in(0), &b = e.in(1);
  return with_class<kRealClasses>(e, a.type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const int64_t m = e.out(0).dims()[0], n = e.out(0).dims()[1], k = a.dims()[ta ? 0 : 1];
    const Reader<T> x(a), y(b);
    Writer<T> out(e.out(0));
    contract(Product<T>{.m = m,
                        .n = n,
                        .k = k,
                        .a = x.data(),
                        .a_row = ta ? 1 : k,
                        .a_col = ta ? m : 1,
                        .b = y.data(),
                        .b_row = tb ? 1 : n,
                        .b_col = tb ? k : 1,
                        .c = out.data(),
                        .c_row = n,
                        .c_col = 1});
    for (T& v : stoppable(out)) v = scaled(alpha, v);
    if (!e.has(2) || beta == 0) return {};
    const Tensor& c = e.in(2);
    const Reader<T> z(c);
    const int64_t rows = c.rank() == 2 ? c.dims()[0] : 1, columns = c.rank() > 0 ? c.dims().back() : 1;
    for (int64_t i : turns(m, size_t(n))) {
      for (int64_t j : turns(n)) {
        const T v = z[size_t((rows == 1 ? 0 : i) * columns + (columns == 1 ? 0 : j))];
        out[size_t(i * n + j)] = wrap_add(out[size_t(i * n + j)], scaled(beta, v));
      }
    }
    return {};
  });
}

// Whether C is spread was once said by an attribute.
static Status lift_from_6(Lift& l) {
  l.attrs().erase("broadcast");
  return {};
}

static const std::vector<AttrDef> kAttrs = {attr_float("alpha", 1), attr_float("beta", 1),
                                            attr_int("transA", 0), attr_int("transB", 0)};
static const std::vector<AttrDef> kOldAttrs = {attr_float("alpha", 1), attr_float("beta", 1), kOldBroadcast,
                                               attr_int("transA", 0), attr_int("transB", 0)};

extern const Op op = {
    .name = "Gemm",
    .in = {{"A", "T"}, {"B", "T"}, {"C", "T", kOptional}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats | kOldArithmetic}},
    .attrs = kAttrs,
    .infer = infer,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 11, .types = {{"T", kOldFloats | kOldArithmetic}}},
                {.since = 9, .in = {{{"A", "T"}, {"B", "T"}, {"C", "T"}}}},
                {.since = 7, .types = {{"T", kOldFloats}}},
                {.since = 6, .attrs = kOldAttrs, .lift = lift_from_6},
                {.since = 1}},
};

}  // namespace sx::ops::gemm
