// SPDX-License-Identifier: Apache-2.0
// The shape of a matrix product, for MatMul and its quantised kin.
#pragma once
#include "graph/infer.h"

namespace sx::ops {

// numpy.matmul of inputs `a` and `b` into output 0.
Status infer_matmul(Infer& i, size_t a, size_t b, DType elem);

}  // namespace sx::ops
