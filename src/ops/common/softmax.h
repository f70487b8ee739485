// SPDX-License-Identifier: Apache-2.0
// What Softmax, LogSoftmax and Hardmax share: one axis, and the old meaning of it.
#pragma once
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/legacy.h"
#include "ops/engine/reduce.h"

namespace sx::ops {

inline Status infer_softmax(Infer& i) {
  if (i.rank_known(0)) SX_TRY(i.axis(i.integer("axis"), i.rank(0)));
  return infer_same(i);
}

template <class F>
Status eval_softmax(Eval& e, F f) {
  SX_ASSIGN(const size_t axis, e.axis(e.integer("axis"), e.in(0).rank()));
  return along<kFloatClasses>(e, e.in(0), {axis}, e.out(0), f);
}

inline std::vector<Version> softmax_history() {
  return {{.since = 13},
          {.since = 11,
           .types = {{"T", kOldFloats}},
           .attrs = {{attr_int("axis", 1)}},
           .lift = lift_flattened_axis},
          {.since = 1}};
}

}  // namespace sx::ops
