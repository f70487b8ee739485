// SPDX-License-Identifier: Apache-2.0
// The instructions of a pointwise program, as the compiled vector levels see them.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sx::kernels {

// x, y, z are the operands; p and q the immediates. Masks are floats 0 and 1; any number but 0 counts as
// true. The i_ instructions work on 64-bit integers, exactly and wrapping; the others on 32-bit floats.
enum class PwOp : uint8_t {
  // one operand
  copy,
  neg,
  abs,
  square,
  sqrt,
  rsqrt,
  reciprocal,
  exp,
  log,
  erf,
  tanh,
  sigmoid,
  sin,
  cos,
  relu,
  leaky_relu,        // x < 0 ? p x : x
  elu,               // x > 0 ? x : p (e^x - 1)
  selu,              // q (x > 0 ? x : p (e^x - 1))
  celu,              // max(0, x) + min(0, p (e^(x/p) - 1))
  thresholded_relu,  // x > p ? x : 0
  clip,              // min(max(x, p), q); NaN stays
  gelu,
  gelu_tanh,
  silu,
  swish,  // x sigmoid(p x)
  mish,
  hard_sigmoid,  // min(max(p x + q, 0), 1)
  hard_swish,
  softplus,
  softsign,
  floor,
  ceil,
  round,  // to nearest even
  sign,
  is_nan,
  is_inf,  // p != 0: +infinity counts, q != 0: -infinity counts
  logical_not,
  f_to_i,  // towards zero; undefined where it does not fit
  // two operands
  add,
  sub,
  mul,
  div,
  min,
  max,  // NaN when either is NaN
  pow,
  prelu,  // prelu: x < 0 ? y x : x
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  logical_xor,
  // three operands
  mul_add,  // x y + z, with one rounding or two
  select,   // x ? y : z
  // integers
  i_copy,
  i_neg,
  i_abs,
  i_wrap32,  // the low 32 bits, with their sign: makes 64-bit arithmetic the 32-bit one
  i_to_f,
  i_add,
  i_sub,
  i_mul,
  i_div,  // towards zero; x / 0 is 0
  i_min,
  i_max,
  i_less,
  i_less_equal,
  i_greater,
  i_greater_equal,
  i_equal,
  i_not_equal,  // give a mask
  i_select,     // mask x ? y : z
  count_
};

struct PwStep {
  PwOp op;
  uint16_t dst, a, b, c;  // slots
  float p, q;
};

}  // namespace sx::kernels
