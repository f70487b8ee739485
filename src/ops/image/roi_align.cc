// SPDX-License-Identifier: Apache-2.0
// RoiAlign: each region of interest cut into bins, sampled between the elements; the mean of a bin's samples,
// or the greatest weighted corner of them.
#include <algorithm>
#include <cmath>

#include "base/task.h"
#include "graph/infer.h"
#include "graph/lift.h"
#include "graph/op.h"
#include "ops/common/checks.h"
#include "ops/engine/codec.h"
#include "ops/image/sampling.h"

namespace sx::ops::roi_align {

static Status infer(Infer& i) {
  SX_TRY(require_rank(i, 0, 4, "X"));
  SX_TRY(require_rank(i, 1, 2, "rois"));
  const Dim rois = i.rank_known(1) ? i.dim(1, 0) : i.fresh("rois");
  const Dim channels = i.rank_known(0) ? i.dim(0, 1) : i.fresh("channels");
  SX_TRY(require_dims(i, 1, Shape({rois, 4}), "rois"));
  SX_TRY(require_dims(i, 2, Shape({rois}), "batch_indices"));
  constexpr int64_t kMostSamples = 1 << 16;
  if (i.integer("output_height") < 1 || i.integer("output_width") < 1)
    return i.fail("the output is {} by {} elements large", i.integer("output_height"),
                  i.integer("output_width"));
  if (i.integer("sampling_ratio") < 0 || i.integer("sampling_ratio") > kMostSamples)
    return i.fail("sampling_ratio is {}", i.integer("sampling_ratio"));
  i.set_tensor(0, i.elem(0), Shape({rois, channels, i.integer("output_height"), i.integer("output_width")}));
  return {};
}

// The samples of one bin: `count` along each axis from (y, x) on, `bin` high and wide.
struct Bin {
  double y, x, height, width;
  int64_t down, across;
};

static double pool(const double* plane, int64_t height, int64_t width, const Bin& bin, bool greatest) {
  if (height == 0 || width == 0) return 0;  // every sample lies outside
  double sum = 0, top = -HUGE_VAL;
  StopCheck<> stop;
  for (int64_t j = 0; j < bin.down && !stop(); ++j) {
    for (int64_t k = 0; k < bin.across && !stop(); ++k) {
      const double y = bin.y + (double(j) + 0.5) * bin.height / double(bin.down);
      const double x = bin.x + (double(k) + 0.5) * bin.width / double(bin.across);
      const Bilinear b = Bilinear::of(height, width, y, x);
      for (int t = 0; t < 4; ++t) {
        const double v = b.weight[t] * plane[b.at[t]];
        sum += v;
        top = std::max(top, v);
      }
    }
  }
  const int64_t count = bin.down * bin.across;
  return greatest ? (count ? top : 0) : sum / double(std::max<int64_t>(count, 1));
}

static Status eval(Eval& e) {
  const Tensor &x = e.in(0), &rois = e.in(1);
  const Reader<int64_t> image(e.in(2));
  const int64_t n = rois.dims()[0], channels = x.dims()[1], height = x.dims()[2], width = x.dims()[3];
  const int64_t rows = e.integer("output_height"), cols = e.integer("output_width"),
                ratio = e.integer("sampling_ratio");
  const bool half = e.text("coordinate_transformation_mode") == "half_pixel",
             greatest = e.text("mode") == "max";
  const double scale = e.floating("spatial_scale"), offset = half ? 0.5 : 0;
  const Reader<double> in(x), boxes(rois);
  Writer<double> y(e.out(0));
  StopCheck<4096> stop;
  for (int64_t r = 0; r < n && !stop(); ++r) {
    if (image[size_t(r)] < 0 || image[size_t(r)] >= x.dims()[0]) {
      return e.fail("region {} is of image {}, there are {}", r, image[size_t(r)], x.dims()[0]);
    }
    const double* box = boxes.data() + 4 * r;
    const double left = box[0] * scale - offset, top = box[1] * scale - offset;
    double w = box[2] * scale - offset - left, h = box[3] * scale - offset - top;
    if (!half) w = std::max(w, 1.0), h = std::max(h, 1.0);
    if (!(std::abs(h) < 1e6 && std::abs(w) < 1e6))
      return e.fail("region {} is {} by {} elements large", r, h, w);
    Bin bin{0, 0, h / double(rows), w / double(cols), ratio, ratio};
    if (ratio <= 0) {
      bin.down = int64_t(std::ceil(h / double(rows)));
      bin.across = int64_t(std::ceil(w / double(cols)));
    }
    for (int64_t c = 0; c < channels && !stop(); ++c) {
      const double* plane = in.data() + (image[size_t(r)] * channels + c) * height * width;
      for (int64_t py = 0; py < rows && !stop(); ++py) {
        for (int64_t px = 0; px < cols && !stop(size_t(std::max<int64_t>(bin.down * bin.across, 1))); ++px) {
          bin.y = top + double(py) * bin.height;
          bin.x = left + double(px) * bin.width;
          y[size_t(((r * channels + c) * rows + py) * cols + px)] = pool(plane, height, width, bin, greatest);
        }
      }
    }
  }
  return {};
}

// Opset 10 did not shift by half an element.
static Status lift_10(Lift& l) {
  l.attrs().set("coordinate_transformation_mode", std::string("output_half_pixel"));
  return {};
}

static std::vector<AttrDef> attrs(bool with_coordinates) {
  std::vector<AttrDef> list = {attr_text("mode", "avg"), attr_int("output_height", 1),
                               attr_int("output_width", 1), attr_int("sampling_ratio", 0),
                               attr_float("spatial_scale", 1)};
  if (with_coordinates) list.push_back(attr_text("coordinate_transformation_mode", "half_pixel"));
  return list;
}

extern const Op op = {
    .name = "RoiAlign",
    .in = {{"X", "T1"}, {"rois", "T1"}, {"batch_indices", "T2"}},
    .out = {{"Y", "T1"}},
    .types = {{"T1", kFloats}, {"T2", DTypeSet::of(DType::i64)}},
    .attrs = attrs(true),
    .infer = infer,
    .eval = eval,
    .history = {{.since = 22},
                {.since = 16, .types = {{"T1", kOldFloats}}},
                {.since = 10, .attrs = attrs(false), .lift = lift_10}},
};

}  // namespace sx::ops::roi_align
