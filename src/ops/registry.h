// SPDX-License-Identifier: Apache-2.0
// The table of all operators that were built in. find_op() is declared in graph/builder.h.
#pragma once
#include <span>

#include "graph/builder.h"
#include "graph/op.h"

namespace sx {

std::span<const Op* const> all_ops();  // sorted by domain and name

}  // namespace sx
