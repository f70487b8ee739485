// SPDX-License-Identifier: Apache-2.0
// What ScatterElements and ScatterND do where an update meets what is already there.
#pragma once
#include "base/function_ref.h"
#include "graph/eval.h"

namespace sx::ops {

// Output 0 becomes data with updates in place. `place` gives where run number k of updates (each `run`
// elements long) goes, or -1 with `bad` set. reduction: none, add, mul, max or min.
Status scatter(Eval& e, const Tensor& data, const Tensor& updates, int64_t runs, int64_t run,
               FunctionRef<int64_t(int64_t k)> place);

}  // namespace sx::ops
