// SPDX-License-Identifier: Apache-2.0
// MaxRoiPool: each region of interest, in whole elements, cut into bins; the greatest element of each.
#include <algorithm>
#include <cmath>

#include "base/task.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/checks.h"
#include "ops/engine/codec.h"

namespace sx::ops::max_roi_pool {

static Status infer(Infer& i) {
  const std::vector<int64_t> pooled = i.integers("pooled_shape");
  if (pooled.size() != 2) return i.fail("pooled_shape must have 2 numbers, found {}", pooled.size());
  for (int64_t n : pooled) {
    if (n < 1) return i.fail("pooled_shape has {}, at least 1 expected", n);
  }
  SX_TRY(require_rank(i, 0, 4, "X"));
  SX_TRY(require_rank(i, 1, 2, "rois"));
  if (i.rank_known(1)) SX_TRY(i.require_equal(i.dim(1, 1), 5, "the last axis of rois"));
  const Dim rois = i.rank_known(1) ? i.dim(1, 0) : i.fresh("rois");
  const Dim channels = i.rank_known(0) ? i.dim(0, 1) : i.fresh("channels");
  i.set_tensor(0, i.elem(0), Shape({rois, channels, pooled[0], pooled[1]}));
  return {};
}

// The elements of bin `at` of `bins`, in a region that starts at `first` and has `size` elements.
static std::pair<int64_t, int64_t> bin(int64_t at, int64_t bins, int64_t first, int64_t size, int64_t limit) {
  const double width = double(size) / double(bins);
  const int64_t from = int64_t(std::floor(double(at) * width)) + first;
  const int64_t to = int64_t(std::ceil(double(at + 1) * width)) + first;
  return {std::clamp<int64_t>(from, 0, limit), std::clamp<int64_t>(to, 0, limit)};
}

static int64_t rounded(double v) { return v == v ? std::lround(std::clamp(v, -1e9, 1e9)) : 0; }

static Status eval(Eval& e) {
  const Tensor &x = e.in(0), &rois = e.in(1);
  const std::vector<int64_t> pooled = e.integers("pooled_shape");
  const int64_t channels = x.dims()[1], height = x.dims()[2], width = x.dims()[3];
  const Reader<double> in(x), boxes(rois);
  const double scale = e.floating("spatial_scale");
  Writer<double> y(e.out(0));
  size_t to = 0;
  StopCheck<> stop;
  for (int64_t r = 0; r < rois.dims()[0] && !stop(); ++r) {
    const double* box = boxes.data() + 5 * r;
    const int64_t batch = rounded(box[0]);
    if (batch < 0 || batch >= x.dims()[0])
      return e.fail("region {} is of image {}, there are {}", r, batch, x.dims()[0]);
    const int64_t left = rounded(box[1] * scale), top = rounded(box[2] * scale);
    const int64_t w = std::max<int64_t>(rounded(box[3] * scale) - left + 1, 1);
    const int64_t h = std::max<int64_t>(rounded(box[4] * scale) - top + 1, 1);
    for (int64_t c = 0; c < channels && !stop(); ++c) {
      const double* plane = in.data() + (batch * channels + c) * height * width;
      for (int64_t py = 0; py < pooled[0] && !stop(); ++py) {
        const auto [y0, y1] = bin(py, pooled[0], top, h, height);
        for (int64_t px = 0; px < pooled[1] && !stop(256); ++px) {
          const auto [x0, x1] = bin(px, pooled[1], left, w, width);
          double best = y1 <= y0 || x1 <= x0 ? 0 : -HUGE_VAL;
          const double* corner = plane + y0 * width + x0;
          for (int64_t row : turns(y1 - y0, size_t(x1 - x0))) {
            for (int64_t col : turns(x1 - x0)) best = std::max(best, corner[row * width + col]);
          }
          y[to++] = best;
        }
      }
    }
  }
  return {};
}

extern const Op op = {
    .name = "MaxRoiPool",
    .in = {{"X", "T"}, {"rois", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {required_attr("pooled_shape", AttrKind::integers), attr_float("spatial_scale", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 22}, {.since = 1, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::max_roi_pool
