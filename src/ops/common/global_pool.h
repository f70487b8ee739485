// SPDX-License-Identifier: Apache-2.0
// Pooling over everything behind [N, C].
#pragma once
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/engine/reduce.h"

namespace sx::ops {

inline Status infer_global_pool(Infer& i) {
  SX_TRY(infer_same(i));
  if (!i.rank_known(0)) return {};
  if (i.rank(0) < 2) return i.fail("X has rank {}, at least 2 expected", i.rank(0));
  std::vector<Dim> dims = i.dims(0);
  for (size_t k = 2; k < dims.size(); ++k) dims[k] = 1;
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

template <class F>
Status eval_global_pool(Eval& e, F f) {
  std::vector<size_t> axes;
  for (size_t k = 2; k < e.in(0).rank(); ++k) axes.push_back(k);
  return reduce<kFloatClasses>(e, e.in(0), axes, e.out(0), f);
}

}  // namespace sx::ops
