// SPDX-License-Identifier: Apache-2.0
// Outputs that an evaluation may write, whether the node names them or not.
#pragma once
#include "graph/op.h"

namespace sx {

// 0 where the outputs are a list.
inline size_t fixed_outputs(const Op& op) {
  return !op.out.empty() && (op.out.back().flags & kVariadic) ? 0 : op.out.size();
}

}  // namespace sx
