// SPDX-License-Identifier: Apache-2.0
// Shape arithmetic: small integer tensors whose contents inference knows as Dims.
#pragma once
#include <optional>

#include "graph/infer.h"

namespace sx::ops {

// Infers a broadcast of all inputs; where every input's contents are known, output 0's are `fold` over them.
// `fold` may say that it cannot tell.
using DimFold = std::optional<Dim> (*)(Dim a, Dim b);
Status infer_arithmetic(Infer& i, DimFold fold);

// Output 0 is like input 0, its contents mapped.
Status infer_arithmetic_unary(Infer& i, std::optional<Dim> (*map)(Dim a));

// A comparison: boolean contents (0 or 1) where every pair is decided for all bindings.
Status infer_comparison(Infer& i, std::optional<bool> (*decide)(Dim a, Dim b));

std::optional<bool> decide_equal(Dim a, Dim b);
std::optional<bool> decide_less(Dim a, Dim b);

}  // namespace sx::ops
