// SPDX-License-Identifier: Apache-2.0
// A whole LSTM over a batch of sequences in float: gates i, o, f, c; one direction or both.
//   LstmPlan plan(shape);
//   plan.pack(direction, w, r, bias, peephole, packed);         once; packed holds plan.packed_floats()
//   floats lstm_run(plan, packed, data, scratch, parallel);            scratch: plan.scratch_floats() floats
// Running allocates nothing; results do not depend on the number of threads.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/lstm_args.h"

namespace sx::kernels {

struct LstmShape {
  size_t steps = 0, batch = 1, input = 0, hidden = 0;
  size_t directions = 1;
  bool reverse =
      false;  // one direction: from the end to the beginning. With two, the second is the reverse one.
  bool peepholes = false, input_forget = false;
  float clip = 0;  // 0: none
  LstmFunction f[2] = {{LstmActivation::sigmoid, 0, 0},
                       {LstmActivation::sigmoid, 0, 0}};  // for each direction
  LstmFunction g[2] = {{LstmActivation::tanh, 0, 0}, {LstmActivation::tanh, 0, 0}};
  LstmFunction h[2] = {{LstmActivation::tanh, 0, 0}, {LstmActivation::tanh, 0, 0}};
};

// Strides are in floats; the innermost dimension (input or hidden) is dense everywhere.
struct LstmData {
  const float* x = nullptr;
  ptrdiff_t x_time = 0, x_batch = 0;
  const int32_t* lengths = nullptr;          // one for each sequence, at most steps; null: all are whole
  const float *h0 = nullptr, *c0 = nullptr;  // null: zero
  ptrdiff_t state_direction = 0, state_batch = 0;  // of h0, c0, h_last and c_last
  float* y = nullptr;  // each output may be null; steps beyond a sequence's length are zero
  ptrdiff_t y_time = 0, y_direction = 0, y_batch = 0;
  float *h_last = nullptr, *c_last = nullptr;
};

class LstmPlan {
 public:
  LstmPlan() = default;
  explicit LstmPlan(const LstmShape& shape);
  const LstmShape& shape() const { return shape_; }
  // The packed weights depend on input, hidden, directions and the vector level only, not on steps and batch.
  size_t packed_floats() const { return shape_.directions * direction_floats(); }
  size_t scratch_floats() const;  // 64-byte aligned
  // Of one direction: w [4 hidden][input], r [4 hidden][hidden], bias [8 hidden] or null, peephole [3 hidden]
  // (i, o, f) or null. Sources need no alignment.
  void pack(size_t direction, const void* w, const void* r, const void* bias, const void* peephole,
            float* packed) const;

 private:
  friend class LstmRun;
  size_t direction_floats() const;
  LstmShape shape_;
  size_t lanes_ = 1, blocks_ = 0;
  void (*project_)(const LstmProject*) = nullptr;
  void (*sequence_)(LstmSequence*) = nullptr;
};

void lstm_run(const LstmPlan& plan, const float* packed, const LstmData& data, float* scratch,
              Parallel& parallel);

}  // namespace sx::kernels
