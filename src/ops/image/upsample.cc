// SPDX-License-Identifier: Apache-2.0
// Upsample: Resize as it was before opset 10: positions x / scale, rounded down. It lives on only as its
// lift.
#include "graph/lift.h"
#include "ops/image/resampling.h"

namespace sx::ops::upsample {

// Attributes and inputs of Resize; scales are input 1 already.
static Status lift_9(Lift& l) {
  const ValueId scales = l.in(1);
  l.set_input(1, kNoValue);
  l.set_input(2, scales);
  std::string mode = l.attrs().text("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear") mode = "linear";
  l.attrs().set("mode", mode);
  l.attrs().set("coordinate_transformation_mode", std::string("asymmetric"));
  l.attrs().set("nearest_mode", std::string("floor"));
  l.set_type("Resize");
  return {};
}

static Status lift_7(Lift& l) {
  const auto* scales = l.attrs().get<std::vector<float>>("scales");
  if (!scales) return l.fail("attribute scales is missing");
  l.set_input(1, l.constant(Tensor::of<float>(DType::f32, {int64_t(scales->size())}, *scales)));
  l.attrs().erase("scales");
  return {};
}

static Status lift_1(Lift& l) {
  const std::vector<float> scales = {1, 1, l.attrs().floating("height_scale", 1),
                                     l.attrs().floating("width_scale", 1)};
  l.attrs().erase("height_scale");
  l.attrs().erase("width_scale");
  l.attrs().set("scales", scales);
  return {};
}

// The scales are input 1 here.
static Status infer(Infer& i) {
  if (i.rank_known(0))
    i.set_ranked(0, i.elem(0), i.rank(0));
  else
    i.set_unknown_shape(0, i.elem(0));
  return {};
}

static const AttrDef kMode = attr_text("mode", "nearest");
constexpr DTypeSet kTypes1 =
    DTypeSet::of(DType::boolean, DType::f64, DType::f32, DType::f16, DType::i32, DType::i64);

extern const Op op = {
    .name = "Upsample",
    .in = {{"X", "T"}, {"scales", "tensor(float)"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kOldAll}},
    .attrs = {kMode},
    .infer = infer,
    .history = {{.since = 10, .removed = true},
                {.since = 9, .lift = lift_9},
                {.since = 7,
                 .attrs = {{kMode, required_attr("scales", AttrKind::floatings)}},
                 .in = {{{"X", "T"}}},
                 .lift = lift_7},
                {.since = 1,
                 .types = {{"T", kTypes1}},
                 .attrs = {{kMode, required_attr("height_scale", AttrKind::floating),
                            required_attr("width_scale", AttrKind::floating)}},
                 .lift = lift_1}},
};

}  // namespace sx::ops::upsample
