// SPDX-License-Identifier: Apache-2.0
// sx.legacy.Resize11: Resize with the coordinate mode tf_half_pixel_for_nn, which only opset 11 had, and with
// opset 10's way to round to the nearest, ceil_where_smaller.
#include "ops/image/resampling.h"

namespace sx::ops::resize_11 {

extern const Op op = {
    .name = "Resize11",
    .domain = "sx.legacy",
    .in = {{"X", "T1"},
           {"roi", "T2", kOptional},
           {"scales", "tensor(float)", kOptional},
           {"sizes", "tensor(int64)", kOptional}},
    .out = {{"Y", "T1"}},
    .types = {{"T1", kAll13}, {"T2", kOldFloats}},
    .attrs = {attr_text("coordinate_transformation_mode", "tf_half_pixel_for_nn"),
              attr_float("cubic_coeff_a", -0.75f), attr_int("exclude_outside", 0),
              attr_float("extrapolation_value", 0), attr_text("mode", "nearest"),
              attr_text("nearest_mode", "round_prefer_floor")},
    .infer = infer_resize,
    .eval = eval_resize,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::resize_11
