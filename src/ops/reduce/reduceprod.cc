// SPDX-License-Identifier: Apache-2.0
// ReduceProd: the product over the axes.
#include "ops/common/elements.h"
#include "ops/common/elementwise.h"
#include "ops/common/reduce.h"

namespace sx::ops::reduceprod {

// Of a vector of sizes the number of elements: exporters compute it to merge axes.
static Status infer(Infer& i) {
  SX_TRY(infer_reduce(i));
  const std::vector<Dim>* e = i.elements(0);
  const Shape& made = i.out(0).shape;
  const bool whole =
      made.known && (made.rank() == 0 || made.is_constant()) && i.rank_known(0) && i.rank(0) == 1;
  if (!e || !whole || (made.rank() == 1 && !made.dims[0].is_constant(1))) return {};
  Dim product = 1;
  for (Dim d : *e) {
    const auto next = exact_product(product, d);
    if (!next) return {};
    product = *next;
  }
  if (e->size() > 1 || made.rank() == 0) i.set_elements(0, {product});
  return {};
}

static Status eval(Eval& e) {
  return eval_fold(
      e, [](auto zero) { return decltype(zero)(1); },
      [](auto product, auto v) { return wrap_mul(product, v); },
      [](auto, auto product, size_t) { return product; });
}

extern const Op op = {
    .name = "ReduceProd",
    .in = reduce_inputs(),
    .out = {{"reduced", "T"}},
    .types = {{"T", kFloats | kOldArithmetic}},
    .attrs = reduce_attrs(),
    .infer = infer,
    .eval = eval,
    .history = {{.since = 18},
                reduce_by_attribute(13),
                {.since = 11, .types = {{"T", kOldFloats | kOldArithmetic}}},
                {.since = 1}},
};

}  // namespace sx::ops::reduceprod
