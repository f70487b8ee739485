// SPDX-License-Identifier: Apache-2.0
// MatMul: matrix product as numpy.matmul: leading axes broadcast, vectors are rows or columns.
#include "ops/common/matmul.h"
#include "graph/op.h"
#include "ops/common/legacy.h"
#include "ops/engine/contract.h"

namespace sx::ops::matmul {

static Status infer(Infer& i) { return infer_matmul(i, 0, 1, i.elem(0)); }

static Status eval(Eval& e) { return sx::matmul(e, e.in(0), e.in(1), e.out(0)); }

extern const Op op = {
    .name = "MatMul",
    .in = {{"A", "T"}, {"B", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats | kOldArithmetic}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 9, .types = {{"T", kOldFloats | kOldArithmetic}}},
                {.since = 1, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::matmul
