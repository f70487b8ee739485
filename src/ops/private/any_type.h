// SPDX-License-Identifier: Apache-2.0
// What private operators take and give: whatever the nodes that they stand for do.
#pragma once
#include "graph/op.h"

namespace sx::ops {

inline TypeSet any_type() {
  TypeSet s(kAll28);
  s.sequence = s.optional = s.optional_sequence = kAll28;
  return s;
}

}  // namespace sx::ops
