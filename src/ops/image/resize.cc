// SPDX-License-Identifier: Apache-2.0
// Resize: an image, or any tensor, made larger or smaller along some axes.
#include "graph/lift.h"
#include "ops/image/resampling.h"

namespace sx::ops::resize {

static const AttrDef kMode = attr_text("mode", "nearest");
static std::vector<AttrDef> attrs(bool since_18) {
  std::vector<AttrDef> list = {attr_text("coordinate_transformation_mode", "half_pixel"),
                               attr_float("cubic_coeff_a", -0.75f),
                               attr_int("exclude_outside", 0),
                               attr_float("extrapolation_value", 0),
                               kMode,
                               attr_text("nearest_mode", "round_prefer_floor")};
  if (since_18) {
    list.push_back(attr_int("antialias", 0));
    list.push_back(optional_attr("axes", AttrKind::integers));
    list.push_back(attr_text("keep_aspect_ratio_policy", "stretch"));
  }
  return list;
}

// Opset 11 had one coordinate mode that was dropped.
static Status lift_11(Lift& l) {
  if (l.attrs().text("coordinate_transformation_mode", "") == "tf_half_pixel_for_nn") {
    l.set_type("Resize11", "sx.legacy");
  }
  return {};
}

// Opset 10 took positions as they are, x / scale. Its cases round them down along axes that grow, and up
// along those that shrink.
static Status lift_10(Lift& l) {
  bool grows = true, shrinks = true;
  if (const Tensor* scales = l.constant(1); scales && scales->type() == DType::f32) {
    for (float s : scales->as<float>()) {
      grows = grows && s >= 1;
      shrinks = shrinks && s <= 1;
    }
  } else {
    grows = shrinks = false;
  }
  const ValueId scales = l.in(1);
  l.set_input(1, kNoValue);
  l.set_input(2, scales);
  l.attrs().set("coordinate_transformation_mode", std::string("asymmetric"));
  l.attrs().set("nearest_mode", std::string(grows ? "floor" : shrinks ? "ceil" : "ceil_where_smaller"));
  if (!grows && !shrinks && l.attrs().text("mode", "nearest") == "nearest")
    l.set_type("Resize11", "sx.legacy");
  return {};
}

extern const Op op = {
    .name = "Resize",
    .in = {{"X", "T1"},
           {"roi", "T2", kOptional},
           {"scales", "tensor(float)", kOptional},
           {"sizes", "tensor(int64)", kOptional}},
    .out = {{"Y", "T1"}},
    .types = {{"T1", kAll13}, {"T2", kOldFloats}},
    .attrs = attrs(true),
    .infer = infer_resize,
    .eval = eval_resize,
    .history = {{.since = 19},
                {.since = 18},
                {.since = 13, .attrs = attrs(false)},
                {.since = 11,
                 .types = {{"T1", kOldAll}},
                 .in = {{{"X", "T1"},
                         {"roi", "T2"},
                         {"scales", "tensor(float)"},
                         {"sizes", "tensor(int64)", kOptional}}},
                 .lift = lift_11},
                {.since = 10,
                 .types = {{"T", kOldAll}},
                 .attrs = {{kMode}},
                 .in = {{{"X", "T"}, {"scales", "tensor(float)"}}},
                 .out = {{{"Y", "T"}}},
                 .lift = lift_10}},
};

}  // namespace sx::ops::resize
