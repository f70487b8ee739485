// SPDX-License-Identifier: Apache-2.0
// GridSample: elements of X at the normalised positions that a grid names, in any number of spatial axes.
#include <algorithm>
#include <cmath>

#include "base/task.h"
#include "graph/infer.h"
#include "graph/lift.h"
#include "graph/op.h"
#include "ops/common/checks.h"
#include "ops/engine/codec.h"
#include "ops/engine/move.h"
#include "ops/image/sampling.h"

namespace sx::ops::grid_sample {

static Status infer(Infer& i) {
  if (!i.rank_known(0) || !i.rank_known(1)) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  if (i.rank(0) < 3 || i.rank(0) != i.rank(1)) {
    return i.fail("X and grid must have the same rank, 3 or more; found {} and {}", i.rank(0), i.rank(1));
  }
  SX_TRY(i.require_equal(i.dim(0, 0), i.dim(1, 0), "the batch of X and of grid"));
  SX_TRY(i.require_equal(i.dims(1).back(), int64_t(i.rank(0)) - 2,
                         "the last axis of grid and the spatial axes of X"));
  for (size_t k = 2; k < i.rank(0); ++k) {
    if (i.dim(0, k).is_constant(0)) return i.fail("spatial axis {} of X is empty", k - 2);
  }
  std::vector<Dim> dims = {i.dim(0, 0), i.dim(0, 1)};
  for (size_t k = 1; k + 1 < i.rank(1); ++k) dims.push_back(i.dim(1, k));
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

// The taps of one position: element offsets in a plane (-1: zero) and weights.
struct Position {
  std::vector<int64_t> at;
  std::vector<double> weight;
};

static double cubic(double distance) {
  constexpr double a = -0.75;
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

constexpr double kFar = 1e12;  // outside of every image

static void find_taps(std::span<const SampleAxis> axes, const double* grid, const std::string& mode,
                      Position& p) {
  p.at.assign(1, 0);
  p.weight.assign(1, 1);
  for (size_t d = 0; d < axes.size(); ++d) {
    const SampleAxis& axis = axes[d];
    double x = axis.position(grid[axes.size() - 1 - d]);  // the grid names the last axis first
    if (!std::isfinite(x)) x = -kFar;
    if (mode == "nearest") x = std::nearbyint(x);
    if (mode != "cubic") x = axis.inside(x);  // cubic taps are each brought inside
    const int64_t base = int64_t(std::floor(std::clamp(x, -kFar, kFar)));
    const int64_t first = mode == "cubic" ? base - 1 : base;
    const int64_t last = mode == "cubic" ? base + 2 : mode == "linear" ? base + 1 : base;
    Position next;
    for (size_t k = 0; k < p.at.size(); ++k) {
      for (int64_t t = first; t <= last; ++t) {
        const double distance = double(t) - x;
        const double w = mode == "cubic" ? cubic(distance) : mode == "linear" ? 1 - std::abs(distance) : 1;
        const int64_t element = axis.element(t);
        next.at.push_back(p.at[k] < 0 || element < 0 ? -1 : p.at[k] * axis.size + element);
        next.weight.push_back(p.weight[k] * w);
      }
    }
    p = std::move(next);
  }
}

static Status eval(Eval& e) {
  const std::string mode = e.text("mode");
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    return e.fail("mode '{}' is not nearest, linear or cubic", mode);
  SX_ASSIGN(const Outside outside, outside_named(e.text("padding_mode")));
  const Tensor &x = e.in(0), &grid = e.in(1);
  std::vector<SampleAxis> axes;
  for (size_t d = 2; d < x.rank(); ++d)
    axes.push_back({x.dims()[d], e.integer("align_corners") != 0, outside});
  const int64_t batch = x.dims()[0], channels = x.dims()[1],
                plane = product(std::span(x.dims().begin() + 2, axes.size()));
  const int64_t points = batch ? grid.count() / int64_t(axes.size()) / batch : 0;
  const Reader<double> positions(grid);
  const bool move = mode == "nearest";
  SX_ASSIGN(const Tensor zero, Tensor::zeros(x.type(), {1}));
  if (!move && (x.type() == DType::string || dtype_is_complex(x.type()))) {
    return e.fail("{} can only be sampled with mode nearest", dtype_name(x.type()));
  }
  const Reader<double> in(move ? Tensor() : x);
  Workspace<double> out(move ? 0 : size_t(e.out(0).count()));
  Position p;
  StopCheck<4096> stop;
  for (int64_t n = 0; n < batch && !stop(); ++n) {
    for (int64_t k = 0; k < points && !stop(size_t(channels + 1) * p.at.size()); ++k) {
      find_taps(axes, positions.data() + (n * points + k) * int64_t(axes.size()), mode, p);
      for (int64_t c : turns(channels, p.at.size())) {
        const int64_t from = (n * channels + c) * plane, to = (n * channels + c) * points + k;
        if (move) {
          p.at[0] < 0 ? move_one(zero, 0, e.out(0), to) : move_one(x, from + p.at[0], e.out(0), to);
          continue;
        }
        double sum = 0;
        for (size_t t = 0; t < p.at.size(); ++t) {
          if (p.at[t] >= 0) sum += p.weight[t] * in[size_t(from + p.at[t])];
        }
        out[size_t(to)] = sum;
      }
    }
  }
  if (!move) encode<double>(out.data(), out.size(), e.out(0).type(), e.out(0).mutable_data(), 0, 1);
  return {};
}

// Until opset 19 images were flat, and the modes were named so.
static Status lift_16(Lift& l) {
  const std::string mode = l.attrs().text("mode", "bilinear");
  l.attrs().set("mode", std::string(mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode));
  return {};
}

static const AttrDef kAlign = attr_int("align_corners", 0), kPadding = attr_text("padding_mode", "zeros");

extern const Op op = {
    .name = "GridSample",
    .in = {{"X", "T1"}, {"grid", "T2"}},
    .out = {{"Y", "T1"}},
    .types = {{"T1", kAll13}, {"T2", kFloats}},
    .attrs = {kAlign, attr_text("mode", "linear"), kPadding},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 22},
                {.since = 20, .types = {{"T1", kOldAll}, {"T2", kOldFloats}}},
                {.since = 16, .attrs = {{kAlign, attr_text("mode", "bilinear"), kPadding}}, .lift = lift_16}},
};

}  // namespace sx::ops::grid_sample
