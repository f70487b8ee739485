// SPDX-License-Identifier: Apache-2.0
// sx.legacy.LayerNormalization: what onnxruntime's optimiser writes into the default domain of models whose
// opset is older than the operator. It means the same.
#include "graph/infer.h"
#include "graph/lift.h"
#include "graph/op.h"

namespace sx::ops::layer_normalization_1 {

static Status lift(Lift& l) {
  l.set_type("LayerNormalization");
  return {};
}

extern const Op op = {
    .name = "LayerNormalization",
    .domain = "sx.legacy",
    .in = {{"X", "T"}, {"Scale", "T"}, {"B", "T", kOptional}},
    .out = {{"Y", "T"}, {"Mean", "U", kOptional}, {"InvStdDev", "U", kOptional}},
    .types = {{"T", kFloats}, {"U", DTypeSet::of(DType::f32, DType::bf16)}},
    .attrs = {attr_int("axis", -1), attr_float("epsilon", 1e-5f), attr_int("stash_type", 1)},
    .infer = infer_same,
    .history = {{.since = 2, .removed = true}, {.since = 1, .lift = lift}},
};

}  // namespace sx::ops::layer_normalization_1
