// SPDX-License-Identifier: Apache-2.0
// RoiAlign: each region of interest cut into bins, sampled between the elements; the mean of a bin's samples,
// or the greatest weighted corner of them.
#include <algorithm>
#include <cmath>

#include "base/task.h"
#include "graph/infer.h"
#include "graph/lift.h"
#include "graph/op.h"
#include "ops/engine/codec.h"
#include "ops/image/sampling.h"

namespace sx::ops::roi_align {

static Status infer(Infer& i) {
  const Dim rois = i.rank_known(1) ? i.dim(1, 0) : i.fresh("rois");
  const Dim channels = i.rank_known(0) && i.rank(0) == 4 ? i.dim(0, 1) : i.fresh("channels");
  i.set_tensor(0, i.elem(0), Shape({rois, channels, i.integer("output_height"), i.integer("output_width")}));
  return {};
}

// The samples of one bin: `count` along each axis from (y, x) on, `bin` high and wide.
struct Bin {
  double y, x, height, width;
  int64_t down, across;
};

static double pool(const double* plane, int64_t height, int64_t width, const Bin& bin, bool greatest) {
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
  if (x.rank() != 4 || rois.rank() != 2 || rois.dims()[1] != 4) {
    return e.fail("X must be [N, C, H, W] and rois [n, 4], found {} and {}", to_string(x.dims()),
                  to_string(rois.dims()));
  }
  SX_ASSIGN(const std::vector<int64_t> image, e.ints_of(2));
  const int64_t n = rois.dims()[0], channels = x.dims()[1], height = x.dims()[2], width = x.dims()[3];
  if (int64_t(image.size()) != n) return e.fail("{} batch_indices for {} regions", image.size(), n);
  const int64_t rows = e.integer("output_height"), cols = e.integer("output_width"),
                ratio = e.integer("sampling_ratio");
  if (rows < 1 || cols < 1) return e.fail("the output is {} by {} elements large", rows, cols);
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
