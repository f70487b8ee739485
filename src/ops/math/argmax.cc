// SPDX-License-Identifier: Apache-2.0
// ArgMax: the index of the largest element along an axis; of equal ones the first, or the last if asked.
#include "ops/common/arg.h"

namespace sx::ops::argmax {

static Status eval(Eval& e) {
  return eval_arg(e, [](auto a, auto b) { return a > b; });
}

extern const Op op = {
    .name = "ArgMax",
    .in = {{"data", "T"}},
    .out = {{"reduced", "tensor(int64)"}},
    .types = {{"T", kNumbers}},
    .attrs = arg_attrs(),
    .infer = infer_arg,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 12, .types = {{"T", kOldNumbers}}},
                {.since = 11, .attrs = old_arg_attrs()},
                {.since = 1}},
};

}  // namespace sx::ops::argmax
