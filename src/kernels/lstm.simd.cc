// SPDX-License-Identifier: Apache-2.0
// LSTM: gates of a block of hidden units stay in registers from the product to the new state.
#include "kernels/lstm_args.h"
#include "kernels/vec_math.h"

namespace sx::SX_ISA {
using namespace kernels;
namespace {

#if defined(SX_ISA_avx512)
constexpr size_t kTile = 4;  // rows whose gates fit the registers
#else
constexpr size_t kTile = 2;
#endif
static_assert(kTile <= kLstmRows);

// acc[r][gate] += sum_k a[r][k] w[k][gate]
template <size_t R>
SX_INLINE void accumulate(Vec (&acc)[R][4], const float* w, const float* const* a, size_t k) {
  for (size_t i = 0; i < k; ++i, w += 4 * kLanes) {
    const Vec w0 = load(w), w1 = load(w + kLanes), w2 = load(w + 2 * kLanes), w3 = load(w + 3 * kLanes);
    SX_UNROLL
    for (size_t r = 0; r < R; ++r) {
      const Vec x = set1(a[r][i]);
      acc[r][0] = fma(x, w0, acc[r][0]);
      acc[r][1] = fma(x, w1, acc[r][1]);
      acc[r][2] = fma(x, w2, acc[r][2]);
      acc[r][3] = fma(x, w3, acc[r][3]);
    }
  }
}

// A single row has too few sums to hide the latency of its additions: even and odd k go apart.
SX_INLINE void accumulate(Vec (&acc)[1][4], const float* w, const float* const* a, size_t k) {
  const float* x = a[0];
  Vec odd[4] = {};
  size_t i = 0;
  for (; i + 2 <= k; i += 2, w += 8 * kLanes) {
    const Vec x0 = set1(x[i]), x1 = set1(x[i + 1]);
    SX_UNROLL
    for (size_t g = 0; g < 4; ++g) {
      acc[0][g] = fma(x0, load(w + g * kLanes), acc[0][g]);
      odd[g] = fma(x1, load(w + (4 + g) * kLanes), odd[g]);
    }
  }
  for (size_t g = 0; g < 4; ++g) {
    if (i < k) acc[0][g] = fma(set1(x[i]), load(w + g * kLanes), acc[0][g]);
    acc[0][g] = acc[0][g] + odd[g];
  }
}

template <size_t R>
void project_tile(const LstmProject& p, size_t block, const float* const* x, float* const* out) {
  Vec acc[R][4];
  const float* bias = p.bias + block * 4 * kLanes;
  for (size_t r = 0; r < R; ++r)
    for (size_t g = 0; g < 4; ++g) acc[r][g] = load(bias + g * kLanes);
  accumulate(acc, p.w + block * p.k * 4 * kLanes, x, p.k);
  for (size_t r = 0; r < R; ++r)
    for (size_t g = 0; g < 4; ++g) store(out[r] + (block * 4 + g) * kLanes, acc[r][g]);
}

SX_INLINE Vec apply(const LstmFunction& f, Vec x) {
  switch (f.kind) {
    case LstmActivation::sigmoid: return sigmoid(x);
    case LstmActivation::tanh: return tanh(x);
    case LstmActivation::relu: return max(zero(), x);
    case LstmActivation::affine: return fma(x, set1(f.alpha), set1(f.beta));
    case LstmActivation::leaky_relu: return select(less(x, zero()), x * f.alpha, x);
    case LstmActivation::thresholded_relu: return select(less(set1(f.alpha), x), x, zero());
    case LstmActivation::scaled_tanh: return tanh(x * f.beta) * f.alpha;
    case LstmActivation::hard_sigmoid: return clamp_keep_nan(fma(x, set1(f.alpha), set1(f.beta)), 0.0f, 1.0f);
    case LstmActivation::elu: return select(less(x, zero()), expm1(x) * f.alpha, x);
    case LstmActivation::softsign: return x / (1.0f + abs(x));
    case LstmActivation::softplus: return softplus(x);
  }
  return x;
}

// From the four gate sums of one row and block to the new c; gives the new h.
template <bool kUsual>
SX_INLINE Vec cell(const LstmSequence& s, Vec (&gate)[4], size_t block, float* c_at) {
  const auto f = [&](Vec v) { return kUsual ? sigmoid(v) : apply(s.f, v); };
  const auto limit = [&](Vec v) { return kUsual || s.clip == 0.0f ? v : clamp_keep_nan(v, -s.clip, s.clip); };
  const size_t at = block * kLanes, peep = s.blocks * kLanes;
  const Vec old = load(c_at);
  const auto peer = [&](size_t which, Vec c) { return load(s.peephole + which * peep + at) * c; };
  if (!kUsual && s.peephole) {
    gate[0] = gate[0] + peer(0, old);
    gate[2] = gate[2] + peer(2, old);
  }
  const Vec i = f(limit(gate[0]));
  const Vec forget = !kUsual && s.input_forget ? 1.0f - i : f(limit(gate[2]));
  const Vec candidate = kUsual ? tanh(gate[3]) : apply(s.g, limit(gate[3]));
  const Vec c = fma(forget, old, i * candidate);
  store(c_at, c);
  if (!kUsual && s.peephole) gate[1] = gate[1] + peer(1, c);
  return f(limit(gate[1])) * (kUsual ? tanh(c) : apply(s.h, c));
}

// One step of rows that are all still running: row_of[r] of the state, at time[r].
template <size_t R, bool kUsual>
void step_tile(const LstmSequence& s, const size_t* row_of, const size_t* time, size_t from) {
  const size_t width = s.blocks * kLanes;
  const float *h[R], *gates[R];
  for (size_t r = 0; r < R; ++r) {
    h[r] = s.state_h[from] + row_of[r] * width;
    gates[r] = s.gates + (time[r] * s.batch + s.first + row_of[r]) * 4 * width;
  }
  for (size_t block = 0; block < s.blocks; ++block) {
    Vec acc[R][4];
    for (size_t r = 0; r < R; ++r)
      for (size_t g = 0; g < 4; ++g) acc[r][g] = load(gates[r] + (block * 4 + g) * kLanes);
    accumulate(acc, s.r + block * s.hidden * 4 * kLanes, h, s.hidden);
    const size_t left = s.hidden - block * kLanes;
    for (size_t r = 0; r < R; ++r) {
      const size_t at = row_of[r] * width + block * kLanes;
      const Vec v = cell<kUsual>(s, acc[r], block, s.state_c + at);
      store(s.state_h[1 - from] + at, v);
      if (!s.y) continue;
      float* y =
          s.y + (ptrdiff_t)time[r] * s.y_time + (ptrdiff_t)(s.first + row_of[r]) * s.y_batch + block * kLanes;
      left >= kLanes ? store(y, v) : store_part(y, left, v);
    }
  }
}

template <bool kUsual>
void sequence(LstmSequence& s) {
  for (size_t step = s.step0; step < s.step1; ++step) {
    size_t row_of[kLstmRows], time[kLstmRows], n = 0;
    const size_t from = step & 1;
    for (size_t r = 0; r < s.rows; ++r) {
      const size_t length = s.lengths ? (size_t)s.lengths[s.first + r] : s.steps;
      if (step < length) {
        row_of[n] = r;
        time[n++] = s.reverse ? length - 1 - step : step;
        s.final_buffer[r] = 1 - from;
      } else if (s.y) {
        float* y = s.y + (ptrdiff_t)step * s.y_time + (ptrdiff_t)(s.first + r) * s.y_batch;
        for (size_t i = 0; i < s.hidden; ++i) y[i] = 0.0f;
      }
    }
    size_t r = 0;
    for (; r + kTile <= n; r += kTile) step_tile<kTile, kUsual>(s, row_of + r, time + r, from);
    for (; r < n; ++r) step_tile<1, kUsual>(s, row_of + r, time + r, from);
  }
}

}  // namespace

void lstm_project(const LstmProject* args) {
  const LstmProject& p = *args;
  constexpr size_t kGroup = 32;  // rows that share a block of weights while it is in the first-level cache
  const size_t end = p.first_row + p.rows, width = p.blocks * 4 * kLanes;
  for (size_t first = p.first_row; first < end; first += kGroup) {
    const size_t n = end - first < kGroup ? end - first : kGroup;
    const float* x[kGroup];
    float* out[kGroup];
    for (size_t i = 0; i < n; ++i) {
      const size_t row = first + i;
      x[i] = p.x + (ptrdiff_t)(row / p.inner_rows) * p.outer_step +
             (ptrdiff_t)(row % p.inner_rows) * p.inner_step;
      out[i] = p.out + row * width;
    }
    for (size_t block = 0; block < p.blocks; ++block) {
      size_t i = 0;
      for (; i + kTile <= n; i += kTile) project_tile<kTile>(p, block, x + i, out + i);
      for (; i < n; ++i) project_tile<1>(p, block, x + i, out + i);
    }
  }
}

void lstm_sequence(LstmSequence* s) {
  const bool usual = s->f.kind == LstmActivation::sigmoid && s->g.kind == LstmActivation::tanh &&
                     s->h.kind == LstmActivation::tanh && !s->peephole && s->clip == 0.0f && !s->input_forget;
  usual ? sequence<true>(*s) : sequence<false>(*s);
}

size_t lstm_lanes() { return kLanes; }

}  // namespace sx::SX_ISA
