// SPDX-License-Identifier: Apache-2.0
// ReduceProd: the product over the axes.
#include "ops/common/elementwise.h"
#include "ops/common/reduce.h"

namespace sx::ops::reduceprod {

static Status eval(Eval& e) {
  return eval_reduce(e, [](auto x) {
    using T = std::remove_const_t<typename decltype(x)::element_type>;
    T product = 1;
    for (T v : x) product = wrap_mul(product, v);
    return product;
  });
}

extern const Op op = {
    .name = "ReduceProd",
    .in = reduce_inputs(),
    .out = {{"reduced", "T"}},
    .types = {{"T", kFloats | kOldArithmetic}},
    .attrs = reduce_attrs(),
    .infer = infer_reduce,
    .eval = eval,
    .history = {{.since = 18},
                reduce_by_attribute(13),
                {.since = 11, .types = {{"T", kOldFloats | kOldArithmetic}}},
                {.since = 1}},
};

}  // namespace sx::ops::reduceprod
