// SPDX-License-Identifier: Apache-2.0
// sx.legacy.SimplifiedLayerNormalization: what onnxruntime's optimiser writes into the default domain; the
// standard calls it RMSNormalization.
#include "graph/infer.h"
#include "graph/lift.h"
#include "graph/op.h"

namespace sx::ops::simplified_layer_normalization {

static Status lift(Lift& l) {
  const std::vector<ValueId> outputs = l.graph().node(l.id()).outputs;
  if (outputs.size() > 1 && outputs[1] != kNoValue)
    return l.fail("the output inv_std_var is not computed by RMSNormalization");
  l.set_type("RMSNormalization");
  return {};
}

extern const Op op = {
    .name = "SimplifiedLayerNormalization",
    .domain = "sx.legacy",
    .in = {{"X", "T"}, {"scale", "V"}},
    .out = {{"Y", "V"}, {"inv_std_var", "U", kOptional}},
    .types = {{"T", kFloats}, {"V", kFloats}, {"U", DTypeSet::of(DType::f32, DType::bf16)}},
    .attrs = {attr_int("axis", -1), attr_float("epsilon", 1e-5f), attr_int("stash_type", 1)},
    .infer = infer_same,
    .history = {{.since = 2, .removed = true}, {.since = 1, .lift = lift}},
};

}  // namespace sx::ops::simplified_layer_normalization
