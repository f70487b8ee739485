// SPDX-License-Identifier: Apache-2.0
// The conversion of Cast and CastLike: between any two of numbers, booleans and strings.
#pragma once
#include "graph/infer.h"
#include "ops/engine/codec.h"

namespace sx::ops {

Status check_round_mode(Infer& i);
// Options from the attributes `saturate` and `round_mode`.
EncodeOptions cast_options(const Eval& e);
Status cast_tensor(Eval& e, const Tensor& from, Tensor& to, const EncodeOptions& options);

}  // namespace sx::ops
