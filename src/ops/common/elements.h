// SPDX-License-Identifier: Apache-2.0
// Shape arithmetic: small integer tensors whose contents inference knows as Dims.
#pragma once
#include <optional>

#include "graph/infer.h"

namespace sx::ops {

// What the operator computes from two integers; nothing where that wraps around, which Dims do not.
std::optional<Dim> exact_sum(Dim a, Dim b);
std::optional<Dim> exact_difference(Dim a, Dim b);
std::optional<Dim> exact_product(Dim a, Dim b);

// Infers a broadcast of all inputs; where every input's contents are known, output 0's are `fold` over them.
// `fold` may say that it cannot tell.
using DimFold = std::optional<Dim> (*)(Dim a, Dim b);
Status infer_arithmetic(Infer& i, DimFold fold);

// Output 0 is like input 0, its contents mapped.
Status infer_arithmetic_unary(Infer& i, std::optional<Dim> (*map)(Dim a));

// A comparison: boolean contents (0 or 1) where every pair is decided for all bindings.
Status infer_comparison(Infer& i, std::optional<bool> (*decide)(Dim a, Dim b));

// `small` must broadcast to `to` without making it larger: an error now, or guards for what is symbolic.
Status require_spreads(Infer& i, const Shape& small, const Shape& to, std::string_view what);

std::optional<bool> decide_equal(Dim a, Dim b);
std::optional<bool> decide_less(Dim a, Dim b);

}  // namespace sx::ops
