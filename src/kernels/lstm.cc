// SPDX-License-Identifier: Apache-2.0
// First every step's share of the input, as one product; then the steps, each sequence and direction on its
// own.
#include "kernels/lstm.h"

#include <cstring>

#include "base/task.h"
#include "kernels/chunks.h"
#include "kernels/dispatch.h"

SX_LEVELS(void lstm_project(const kernels::LstmProject* args))
SX_LEVELS(void lstm_sequence(kernels::LstmSequence* args))
SX_LEVELS(size_t lstm_lanes())

namespace sx::kernels {
namespace {

constexpr size_t kGates = 4;
constexpr size_t kMinWork = 1024 * 1024;  // multiplications of a chunk of the input product

float read(const void* p, size_t i) {
  float v;
  std::memcpy(&v, static_cast<const char*>(p) + i * sizeof v, sizeof v);
  return v;
}

}  // namespace

LstmPlan::LstmPlan(const LstmShape& shape)
    : shape_(shape),
      lanes_(SX_PICK(lstm_lanes)()),
      blocks_((shape.hidden + lanes_ - 1) / lanes_),
      project_(SX_PICK(lstm_project)),
      sequence_(SX_PICK(lstm_sequence)) {}

// Packed: input weights, recurrent weights, bias, peepholes.
size_t LstmPlan::direction_floats() const {
  return blocks_ * lanes_ * (kGates * (shape_.input + shape_.hidden + 1) + 3);
}

size_t LstmPlan::scratch_floats() const {
  const size_t width = blocks_ * lanes_, groups = (shape_.batch + kLstmRows - 1) / kLstmRows;
  return shape_.directions * (shape_.steps * shape_.batch * kGates * width + groups * 3 * kLstmRows * width);
}

void LstmPlan::pack(size_t direction, const void* w, const void* r, const void* bias, const void* peephole,
                    float* packed) const {
  float* at = packed + direction * direction_floats();
  const size_t hidden = shape_.hidden;
  const auto panel = [&](const void* from, size_t k) {
    for (size_t block = 0; block < blocks_; ++block)
      for (size_t i = 0; i < k; ++i)
        for (size_t g = 0; g < kGates; ++g)
          for (size_t lane = 0; lane < lanes_; ++lane) {
            const size_t unit = block * lanes_ + lane;
            *at++ = unit < hidden ? read(from, (g * hidden + unit) * k + i) : 0.0f;
          }
  };
  panel(w, shape_.input);
  panel(r, hidden);
  for (size_t block = 0; block < blocks_; ++block)
    for (size_t g = 0; g < kGates; ++g)
      for (size_t lane = 0; lane < lanes_; ++lane) {
        const size_t unit = block * lanes_ + lane;
        const bool real = bias && unit < hidden;
        *at++ = real ? read(bias, g * hidden + unit) + read(bias, (kGates + g) * hidden + unit) : 0.0f;
      }
  for (size_t which = 0; which < 3; ++which)
    for (size_t unit = 0; unit < blocks_ * lanes_; ++unit)
      *at++ = peephole && unit < hidden ? read(peephole, which * hidden + unit) : 0.0f;
}

class LstmRun {
 public:
  LstmRun(const LstmPlan& plan, const float* packed, const LstmData& data, float* scratch)
      : p_(plan), s_(plan.shape_), packed_(packed), d_(data), gates_(scratch) {
    width_ = p_.blocks_ * p_.lanes_;
    state_ = scratch + s_.directions * s_.steps * s_.batch * kGates * width_;
  }

  void run(Parallel& parallel) {
    if (s_.batch == 0 || s_.hidden == 0) return;
    const size_t rows = s_.steps * s_.batch, row_work = kGates * s_.hidden * (s_.input + 1);
    const size_t grain = (kMinWork / row_work + 31) / 32 * 32;
    for (size_t direction = 0; direction < s_.directions; ++direction)
      for_chunks(parallel, rows, grain, [&](size_t begin, size_t end) { project(direction, begin, end); });
    const size_t groups = (s_.batch + kLstmRows - 1) / kLstmRows;
    const size_t work = s_.steps * kLstmRows * kGates * s_.hidden * s_.hidden + 1;
    for_chunks(parallel, s_.directions * groups, kMinWork / work, [&](size_t begin, size_t end) {
      for (size_t u = begin; u < end; ++u) sequences(u / groups, u % groups);
    });
  }

 private:
  const float* weights(size_t direction) const { return packed_ + direction * p_.direction_floats(); }
  float* gates(size_t direction) const { return gates_ + direction * s_.steps * s_.batch * kGates * width_; }

  void project(size_t direction, size_t begin, size_t end) const {
    LstmProject a = {};
    a.w = weights(direction);
    a.bias = a.w + kGates * width_ * (s_.input + s_.hidden);
    a.x = d_.x;
    a.outer_step = d_.x_time;
    a.inner_step = d_.x_batch;
    a.inner_rows = s_.batch;
    a.first_row = begin;
    a.rows = end - begin;
    a.k = s_.input;
    a.blocks = p_.blocks_;
    a.out = gates(direction);
    p_.project_(&a);
  }

  void sequences(size_t direction, size_t group) const {
    LstmSequence a = {};
    const float* w = weights(direction);
    a.r = w + kGates * width_ * s_.input;
    a.gates = gates(direction);
    a.peephole = s_.peepholes ? w + kGates * width_ * (s_.input + s_.hidden + 1) : nullptr;
    a.hidden = s_.hidden, a.blocks = p_.blocks_, a.batch = s_.batch, a.steps = s_.steps;
    a.first = group * kLstmRows;
    a.rows = s_.batch - a.first < kLstmRows ? s_.batch - a.first : kLstmRows;
    a.lengths = d_.lengths;
    a.reverse = s_.directions == 2 ? direction == 1 : s_.reverse;
    a.input_forget = s_.input_forget;
    a.clip = s_.clip;
    a.f = s_.f[direction], a.g = s_.g[direction], a.h = s_.h[direction];
    const size_t groups = (s_.batch + kLstmRows - 1) / kLstmRows, state = kLstmRows * width_;
    float* at = state_ + (direction * groups + group) * 3 * state;
    a.state_h[0] = at, a.state_h[1] = at + state, a.state_c = at + 2 * state;
    if (d_.y) a.y = d_.y + static_cast<ptrdiff_t>(direction) * d_.y_direction;
    a.y_time = d_.y_time, a.y_batch = d_.y_batch;
    for (size_t r = 0; r < a.rows; ++r) {
      load_state(d_.h0, direction, a.first + r, a.state_h[0] + r * width_);
      load_state(d_.c0, direction, a.first + r, a.state_c + r * width_);
    }
    const size_t piece = kMinWork / (kLstmRows * kGates * s_.hidden * s_.hidden) + 1;
    for (; a.step0 < s_.steps && !stop_requested(); a.step0 = a.step1) {
      a.step1 = std::min(s_.steps, a.step0 + piece);
      p_.sequence_(&a);
    }
    for (size_t r = 0; r < a.rows; ++r) {
      const size_t length = a.lengths ? static_cast<size_t>(a.lengths[a.first + r]) : s_.steps;
      if (length == 0) {  // there is no last state: zeros
        load_state(nullptr, direction, a.first + r, a.state_h[a.final_buffer[r]] + r * width_);
        load_state(nullptr, direction, a.first + r, a.state_c + r * width_);
      }
      store_state(a.state_h[a.final_buffer[r]] + r * width_, direction, a.first + r, d_.h_last);
      store_state(a.state_c + r * width_, direction, a.first + r, d_.c_last);
    }
  }

  ptrdiff_t state_at(size_t direction, size_t row) const {
    return static_cast<ptrdiff_t>(direction) * d_.state_direction +
           static_cast<ptrdiff_t>(row) * d_.state_batch;
  }
  void load_state(const float* from, size_t direction, size_t row, float* to) const {
    for (size_t i = 0; i < width_; ++i)
      to[i] = from && i < s_.hidden ? from[state_at(direction, row) + static_cast<ptrdiff_t>(i)] : 0.0f;
  }
  void store_state(const float* from, size_t direction, size_t row, float* to) const {
    if (to) std::memcpy(to + state_at(direction, row), from, s_.hidden * sizeof(float));
  }

  const LstmPlan& p_;
  const LstmShape& s_;
  const float* packed_;
  const LstmData& d_;
  float* gates_;
  float* state_ = nullptr;
  size_t width_ = 0;
};

void lstm_run(const LstmPlan& plan, const float* packed, const LstmData& data, float* scratch,
              Parallel& parallel) {
  LstmRun(plan, packed, data, scratch).run(parallel);
}

}  // namespace sx::kernels
