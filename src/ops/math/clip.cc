// SPDX-License-Identifier: Apache-2.0
// Clip: x kept within min and max; max wins where min is above it.
#include <cfloat>

#include "ops/common/elementwise.h"
#include "ops/common/legacy.h"

namespace sx::ops::clip {

static Status eval(Eval& e) {
  return with_class<kRealClasses>(e, e.in(0).type(), [&](auto zero) {
    using T = decltype(zero);
    const bool below = e.has(1) && e.in(1).count() > 0, above = e.has(2) && e.in(2).count() > 0;
    const T low = below ? number_at<T>(e.in(1)) : T(0), high = above ? number_at<T>(e.in(2)) : T(0);
    return map1_as<T>(e, e.in(0), e.out(0), [=](T x) {
      if (below && x < low) x = low;
      return above && x > high ? high : x;
    });
  });
}

static ValueId bound(Lift& l, float value) {
  return l.node("CastLike", {l.constant(Tensor::scalar_f32(value)), l.in(0)});
}

// The bounds were attributes; the largest and smallest float32 were the defaults.
static Status lift_from_6(Lift& l) {
  const float low = l.attrs().floating("min", -FLT_MAX), high = l.attrs().floating("max", FLT_MAX);
  l.attrs() = {};
  l.set_input(1, bound(l, low));
  l.set_input(2, bound(l, high));
  return {};
}

// Without defaults: no bound.
static Status lift_from_1(Lift& l) {
  const auto limit = [&](std::string_view name) {
    return l.attrs().has(name) ? bound(l, l.attrs().floating(name, 0)) : kNoValue;
  };
  const ValueId from = limit("min"), to = limit("max");
  l.replace({l.node("Clip", {l.in(0), from, to})});
  return {};
}

extern const Op op = {
    .name = "Clip",
    .in = {{"input", "T"}, {"min", "T", kOptional}, {"max", "T", kOptional}},
    .out = {{"output", "T"}},
    .types = {{"T", kNumbers}},
    .infer = infer_same,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 12, .types = {{"T", kOldNumbers}}},
                {.since = 11, .types = {{"T", kOldFloats}}},
                {.since = 6,
                 .attrs = {{attr_float("max", FLT_MAX), attr_float("min", -FLT_MAX)}},
                 .in = {{{"input", "T"}}},
                 .lift = lift_from_6},
                {.since = 1,
                 .attrs = {{kConsumedInputs, optional_attr("max", AttrKind::floating),
                            optional_attr("min", AttrKind::floating)}},
                 .lift = lift_from_1}},
};

}  // namespace sx::ops::clip
