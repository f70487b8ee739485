// SPDX-License-Identifier: Apache-2.0
// ArgMax and ArgMin: where along an axis the best element stands.
#pragma once
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/engine/reduce.h"

namespace sx::ops {

Status infer_arg(Infer& i);
std::vector<AttrDef> arg_attrs();
std::vector<AttrDef> old_arg_attrs();  // before opset 12

// `better(a, b)`: a beats b. NaN beats everything, as in numpy.
template <class F>
Status eval_arg(Eval& e, F better) {
  SX_ASSIGN(const size_t axis, e.axis(e.integer("axis"), e.in(0).rank()));
  const bool last = e.integer("select_last_index") != 0;
  return reduce(e, e.in(0), Axes(&axis, 1), e.out(0), [=](auto x) -> int64_t {
    size_t best = 0;
    for (size_t k : turns(x.size())) {
      const auto a = x[k], b = x[best];
      const bool wins = b != b ? last && a != a : a != a || better(a, b) || (last && a == b);
      if (wins) best = k;
    }
    return int64_t(best);
  });
}

}  // namespace sx::ops
