// SPDX-License-Identifier: Apache-2.0
// Which symbols an expression over dims mentions.
#pragma once
#include "base/function_ref.h"
#include "tensor/dim.h"

namespace sx {

// Each once.
void each_symbol(Dim d, FunctionRef<void(uint32_t symbol)> visit);
bool only_known(Dim d, const std::vector<bool>& known);
bool only_known(std::span<const Dim> dims, const std::vector<bool>& known);
// The symbol, if `d` is nothing but one; -1 otherwise.
int64_t pure_symbol(Dim d);

}  // namespace sx
