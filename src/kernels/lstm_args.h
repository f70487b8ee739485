// SPDX-License-Identifier: Apache-2.0
// What the vector levels see of an LSTM. Plain values only. Hidden units come in blocks of one vector; of
// each block the four gates i, o, f, c lie side by side: weights are [block][k][gate][lane].
#pragma once
#include <cstddef>
#include <cstdint>

namespace sx::kernels {

enum class LstmActivation : uint8_t {
  sigmoid,
  tanh,
  relu,
  affine,            // alpha x + beta
  leaky_relu,        // x < 0 ? alpha x : x
  thresholded_relu,  // x > alpha ? x : 0
  scaled_tanh,       // alpha tanh(beta x)
  hard_sigmoid,      // min(max(alpha x + beta, 0), 1)
  elu,               // x > 0 ? x : alpha (e^x - 1)
  softsign,
  softplus
};

struct LstmFunction {
  LstmActivation kind;
  float alpha, beta;
};

// Rows of gates from rows of input: out[row][block][gate][lane] = bias + sum_k x[row][k]
// w[block][k][gate][lane]. Row r lies at x + r / inner_rows * outer_step + r % inner_rows * inner_step.
struct LstmProject {
  const float* w;
  const float* bias;  // [block][gate][lane]
  const float* x;
  ptrdiff_t outer_step, inner_step;
  size_t inner_rows, first_row, rows, k, blocks;
  float* out;
};

constexpr size_t kLstmRows = 4;  // sequences that go through the steps side by side, at most

struct LstmSequence {
  const float* r;                                    // recurrent weights
  const float* gates;                                // of this direction: [time][batch][block][gate][lane]
  const float* peephole;                             // [i, o, f][blocks][lane], or null
  size_t hidden, blocks, batch, steps, first, rows;  // batch rows [first, first + rows)
  size_t step0, step1;     // which of the steps to do; the state goes on from call to call
  const int32_t* lengths;  // of each batch row; null when all are `steps`
  bool reverse, input_forget;
  float clip;  // 0: none
  LstmFunction f, g, h;
  // Two buffers for the state h and one for c, each [kLstmRows][blocks][lane]; h[0] and c hold the initial
  // state.
  float* state_h[2];
  float* state_c;
  float* y;  // may be null
  ptrdiff_t y_time, y_batch;
  size_t final_buffer[kLstmRows];  // out: which of state_h holds the last state of a row
};

}  // namespace sx::kernels
