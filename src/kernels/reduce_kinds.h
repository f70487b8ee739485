// SPDX-License-Identifier: Apache-2.0
// The inner loops of the reductions, as the compiled vector levels see them. Plain values only.
#pragma once
#include <cstdint>

namespace sx::kernels {

// What one pass gathers. A pass over x - shift with exp serves log_sum_exp.
enum class Gather : uint8_t { sum, sum_square, sum_abs, sum_exp, prod, max, min };

}  // namespace sx::kernels
