// SPDX-License-Identifier: Apache-2.0
// Windows that are sums of cosines: a0 - a1·cos(2πn/N) + a2·cos(4πn/N).
#pragma once
#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"

namespace sx::ops {

Status infer_window(Infer& i);
Status fill_window(Eval& e, double a0, double a1, double a2);
inline constexpr AttrDef kOutputDatatype = attr_int("output_datatype", 1),
                         kPeriodic = attr_int("periodic", 1);

}  // namespace sx::ops
