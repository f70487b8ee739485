// SPDX-License-Identifier: Apache-2.0
// Resampling: how Resize finds, for each output position along an axis, the input positions and weights it is
// made of.
#pragma once
#include <string>
#include <vector>

#include "base/workspace.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"

namespace sx::ops {

// The taps of one output position: `count` inputs and weights from `first` on. None: the extrapolation value.
struct Taps {
  size_t first = 0, count = 0;
};
struct AxisPlan {
  int64_t in = 1, out = 1;
  Workspace<Taps> taps;  // one for each output position
  Workspace<int64_t> index;
  Workspace<double> weight;
  bool identity = false;  // the axis stays as it is
};

struct ResizeAxis {
  int64_t in = 1, out = 1;
  double scale = 1, start = 0, end = 1;  // start, end: the region of interest
};
struct ResizeRule {
  std::string coordinates, mode, nearest;
  double cubic = -0.75;
  bool exclude_outside = false, antialias = false;
};
Result<AxisPlan> plan_axis(const ResizeAxis& axis, const ResizeRule& rule);

// Sizes, scales and region for each axis of the input, from attributes and inputs that are known.
struct ResizeInputs {
  std::vector<double> scales;  // empty: sizes are given
  std::vector<int64_t> sizes;
  std::vector<double> roi;
};
Result<std::vector<ResizeAxis>> resize_axes(std::span<const int64_t> dims, const Attrs& attrs,
                                            const ResizeInputs& inputs);

Status infer_resize(Infer& i);
Status eval_resize(Eval& e);

}  // namespace sx::ops
