// SPDX-License-Identifier: Apache-2.0
// What inference asks of inputs before evaluation and kernels trust them: ranks, single numbers, sizes.
#pragma once
#include <optional>
#include <string_view>

#include "graph/infer.h"

namespace sx::ops {

// Input `input`, where it is given and its rank is known, has this rank.
Status require_rank(Infer& i, size_t input, size_t rank, std::string_view name);
// It has one element, whatever its rank.
Status require_one(Infer& i, size_t input, std::string_view name);
// That element, where it is known.
std::optional<Dim> one_of(const Infer& i, size_t input);
// It has these sizes; guards for what is symbolic.
Status require_dims(Infer& i, size_t input, const Shape& dims, std::string_view name);
// Sizes that a tensor or an attribute names are not negative.
Status require_sizes(Infer& i, std::span<const Dim> sizes, std::string_view name);

}  // namespace sx::ops
