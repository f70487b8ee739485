// SPDX-License-Identifier: Apache-2.0
// GroupNormalization: groups of channels of each sample brought to mean 0 and variance 1, then scaled and
// shifted.
#include "graph/lift.h"
#include "graph/op.h"
#include "ops/common/channel_norm.h"

namespace sx::ops::group_normalization {

static Status infer(Infer& i) {
  const int64_t groups = i.integer("num_groups");
  if (groups < 1) return i.fail("num_groups is {}, at least 1 expected", groups);
  SX_TRY(infer_channel_norm(i));
  if (i.rank_known(0) && i.dim(0, 1).is_constant() && i.dim(0, 1).constant() % groups != 0)
    return i.fail("{} channels do not divide into {} groups", i.dim(0, 1).constant(), groups);
  return {};
}

static Status eval(Eval& e) { return eval_channel_norm(e, e.integer("num_groups")); }

// Scale and bias were one number a group; now they are one a channel.
static Status lift_from_18(Lift& l) {
  const int64_t groups = l.attrs().integer("num_groups", 1);
  if (groups < 1) return l.fail("num_groups is {}, at least 1 expected", groups);
  const ValueId channels = l.node("Shape", {l.in(0)}, {{"end", int64_t(2)}, {"start", int64_t(1)}});
  const ValueId each = l.node("Div", {channels, l.ints({groups})});
  const ValueId spread = l.node("Concat", {l.ints({groups}), each}, {{"axis", int64_t(0)}});
  for (size_t p = 1; p < 3; ++p) {
    const ValueId column = l.node("Reshape", {l.in(p), l.ints({-1, 1})});
    l.set_input(p, l.node("Reshape", {l.node("Expand", {column, spread}), l.ints({-1})}));
  }
  return {};
}

extern const Op op = {
    .name = "GroupNormalization",
    .in = {{"X", "T"}, {"scale", "T"}, {"bias", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {attr_float("epsilon", 1e-5f), required_attr("num_groups", AttrKind::integer),
              attr_int("stash_type", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 21},
                {.since = 18,
                 .attrs = {{attr_float("epsilon", 1e-5f), required_attr("num_groups", AttrKind::integer)}},
                 .lift = lift_from_18}},
};

}  // namespace sx::ops::group_normalization
