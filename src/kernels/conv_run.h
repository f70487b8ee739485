// SPDX-License-Identifier: Apache-2.0
// The walks that run_conv chooses between. Internal to src/kernels.
#pragma once
#include "kernels/conv.h"

namespace sx::kernels {

struct ConvOperands {
  const float* input;
  const float* packed;
  float* output;
  const Epilogue& epilogue;
  float* scratch;
};

void run_dense(const ConvPlan& plan, const ConvOperands& operands, Parallel& parallel);
void run_winograd(const ConvPlan& plan, const ConvOperands& operands, Parallel& parallel);
void run_plain(const ConvPlan& plan, const ConvOperands& operands, Parallel& parallel);
void run_depthwise(const ConvPlan& plan, const ConvOperands& operands, Parallel& parallel);

inline ConvGeometry conv_geometry(const ConvShape& s) {
  return {s.in_h,     s.in_w,       s.out_w(),    s.kernel_h, s.kernel_w, s.stride_h,
          s.stride_w, s.dilation_h, s.dilation_w, s.pad_top,  s.pad_left};
}

// Runs one chunk here, more through parallel.
template <class Body>
void run_chunks(size_t chunks, Parallel& parallel, Body body) {
  if (chunks == 1)
    body(size_t{0}, size_t{0});
  else if (chunks > 1)
    parallel.run(chunks, body);
}

// The chunks of a way that needs scratch memory, each worker with its own.
template <class Way>
void run_with_scratch(const ConvPlan& plan, const ConvOperands& operands, Parallel& parallel) {
  const Way way(plan, operands);
  const size_t per_worker = plan.scratch_floats(1);
  run_chunks(plan.chunks(), parallel,
             [&](size_t chunk, size_t worker) { way.chunk(chunk, operands.scratch + worker * per_worker); });
}

}  // namespace sx::kernels
