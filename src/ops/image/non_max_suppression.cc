// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: of boxes that overlap the one with the best score, for each batch and class.
#include <algorithm>

#include "base/workspace.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/checks.h"
#include "ops/engine/codec.h"

namespace sx::ops::non_max_suppression {

static Status infer(Infer& i) {
  SX_TRY(require_rank(i, 0, 3, "boxes"));
  SX_TRY(require_rank(i, 1, 3, "scores"));
  if (i.rank_known(0) && i.rank_known(1)) {
    SX_TRY(require_dims(i, 0, Shape({i.dim(1, 0), i.dim(1, 2), 4}), "boxes"));
  }
  i.set_tensor(0, DType::i64, Shape({i.fresh("selected"), 3}));
  return {};
}

struct Box {
  double y0, x0, y1, x1;
  static Box of(const double* v, bool center) {
    if (center) return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
    return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
  }
  double area() const { return (y1 - y0) * (x1 - x0); }
};

static bool overlap(const Box& a, const Box& b, double threshold) {
  const double height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0),
               width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  if (height <= 0 || width <= 0 || a.area() <= 0 || b.area() <= 0) return false;
  const double common = height * width, all = a.area() + b.area() - common;
  return all > 0 && common / all > threshold;
}

static bool overlaps_any(const Box& box, const Workspace<Box>& others, double threshold) {
  for (const Box& other : stoppable(others)) {
    if (overlap(box, other, threshold)) return true;
  }
  return false;
}

static Status eval(Eval& e) {
  const Tensor &boxes = e.in(0), &scores = e.in(1);
  const int64_t most = e.has(2) && e.in(2).count() ? number_at<int64_t>(e.in(2)) : 0;
  const double iou = e.has(3) && e.in(3).count() ? number_at<double>(e.in(3)) : 0;
  const bool limited = e.has(4) && e.in(4).count();
  const double least = limited ? number_at<double>(e.in(4)) : 0;
  const bool center = e.integer("center_point_box") != 0;
  const int64_t batches = boxes.dims()[0], n = boxes.dims()[1], classes = scores.dims()[1];
  const Reader<double> corner(boxes), score(scores);
  Workspace<int64_t> found, order;
  Workspace<Box> kept;
  StopCheck<> stop;
  for (int64_t b = 0; b < batches && most > 0 && !stop(); ++b) {
    for (int64_t c = 0; c < classes && !stop(); ++c) {
      const double* s = score.data() + (b * classes + c) * n;
      order.clear();
      order.reserve(size_t(n));
      for (int64_t k = 0; k < n && !stop(); ++k) {
        if (!limited || s[k] > least) order.push_back(k);
      }
      std::stable_sort(order.begin(), order.end(), [&](int64_t p, int64_t q) {
        stop.leave();
        return s[p] > s[q];
      });
      kept.clear();
      for (int64_t k : order) {
        if (int64_t(kept.size()) >= most || stop(kept.size() + 1)) break;
        const Box box = Box::of(corner.data() + (b * n + k) * 4, center);
        if (overlaps_any(box, kept, iou)) continue;
        kept.push_back(box);
        found.insert(found.end(), {b, c, k});
      }
    }
  }
  SX_TRY(e.allocate(0, DType::i64, {int64_t(found.size() / 3), 3}));
  copy_numbers(found.data(), found.size(), e.out(0).mutable_as<int64_t>().data());
  return {};
}

extern const Op op = {
    .name = "NonMaxSuppression",
    .in = {{"boxes", "tensor(float)"},
           {"scores", "tensor(float)"},
           {"max_output_boxes_per_class", "tensor(int64)", kOptional},
           {"iou_threshold", "tensor(float)", kOptional},
           {"score_threshold", "tensor(float)", kOptional}},
    .out = {{"selected_indices", "tensor(int64)"}},
    .attrs = {attr_int("center_point_box", 0)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 11}, {.since = 10}},
};

}  // namespace sx::ops::non_max_suppression
