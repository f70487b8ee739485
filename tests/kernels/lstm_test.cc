// SPDX-License-Identifier: Apache-2.0
// LSTM against its definition in float64: both directions, lengths, peepholes, odd sizes, at every vector
// level.
#include "kernels/lstm.h"

#include <doctest/doctest.h>

#include <cmath>

#include "kernel_testing.h"

using namespace sx;
using namespace sx::kernels;
using sx::testing::for_each_isa;

namespace {

double apply(const LstmFunction& f, double x) {
  switch (f.kind) {
    case LstmActivation::sigmoid: return 1 / (1 + std::exp(-x));
    case LstmActivation::tanh: return std::tanh(x);
    case LstmActivation::relu: return std::max(0.0, x);
    case LstmActivation::affine: return f.alpha * x + f.beta;
    case LstmActivation::leaky_relu: return x < 0 ? f.alpha * x : x;
    case LstmActivation::thresholded_relu: return x > f.alpha ? x : 0;
    case LstmActivation::scaled_tanh: return f.alpha * std::tanh(f.beta * x);
    case LstmActivation::hard_sigmoid: return std::min(1.0, std::max(0.0, f.alpha * x + f.beta));
    case LstmActivation::elu: return x > 0 ? x : f.alpha * std::expm1(x);
    case LstmActivation::softsign: return x / (1 + std::fabs(x));
    case LstmActivation::softplus: return std::log1p(std::exp(x));
  }
  return x;
}

struct Case {
  LstmShape shape;
  bool lengths = false, bias = true, initial = true, batch_first = false;
};

struct Tensors {
  std::vector<float> x, w, r, b, p, h0, c0, y, h, c;
  std::vector<int32_t> lengths;
};

Tensors make(const Case& c, uint64_t seed) {
  const LstmShape& s = c.shape;
  testing::Random random(seed);
  const size_t d = s.directions, state = d * s.batch * s.hidden;
  Tensors t;
  t.x = random.floats(s.steps * s.batch * s.input);
  t.w = random.floats(d * 4 * s.hidden * s.input, -0.5, 0.5);
  t.r = random.floats(d * 4 * s.hidden * s.hidden, -0.3f, 0.3f);
  t.b = random.floats(d * 8 * s.hidden, -0.5, 0.5);
  t.p = random.floats(d * 3 * s.hidden, -0.5, 0.5);
  t.h0 = random.floats(state);
  t.c0 = random.floats(state);
  t.y.assign(s.steps * state, 9.0f);
  t.h.assign(state, 9.0f);
  t.c.assign(state, 9.0f);
  for (size_t i = 0; i < s.batch; ++i) t.lengths.push_back(static_cast<int32_t>(random.below(s.steps + 1)));
  return t;
}

// y is [time][direction][batch][hidden], or [batch][time][direction][hidden] when the batch comes first.
void run(const Case& c, Tensors& t, Parallel& parallel) {
  const LstmShape& s = c.shape;
  const LstmPlan plan(s);
  std::vector<float> packed(plan.packed_floats()), scratch(plan.scratch_floats());
  const size_t h = s.hidden, d = s.directions;
  for (size_t k = 0; k < d; ++k)
    plan.pack(k, &t.w[k * 4 * h * s.input], &t.r[k * 4 * h * h], c.bias ? &t.b[k * 8 * h] : nullptr,
              s.peepholes ? &t.p[k * 3 * h] : nullptr, packed.data());
  LstmData data;
  data.x = t.x.data();
  data.x_time = static_cast<ptrdiff_t>(c.batch_first ? s.input : s.batch * s.input);
  data.x_batch = static_cast<ptrdiff_t>(c.batch_first ? s.steps * s.input : s.input);
  data.y_time = static_cast<ptrdiff_t>(c.batch_first ? d * h : d * s.batch * h);
  data.y_batch = static_cast<ptrdiff_t>(c.batch_first ? s.steps * d * h : h);
  data.y_direction = static_cast<ptrdiff_t>(c.batch_first ? h : s.batch * h);
  data.state_direction = static_cast<ptrdiff_t>(c.batch_first ? h : s.batch * h);
  data.state_batch = static_cast<ptrdiff_t>(c.batch_first ? d * h : h);
  if (c.lengths) data.lengths = t.lengths.data();
  if (c.initial) data.h0 = t.h0.data(), data.c0 = t.c0.data();
  data.y = t.y.data(), data.h_last = t.h.data(), data.c_last = t.c.data();
  lstm_run(plan, packed.data(), data, scratch.data(), parallel);
}

double worst_error(const Case& c, const Tensors& t) {
  const LstmShape& s = c.shape;
  const size_t n = s.hidden, d = s.directions;
  double worst = 0;
  const auto differ = [&](double got, double want) { worst = std::max(worst, std::fabs(got - want)); };
  for (size_t dir = 0; dir < d; ++dir)
    for (size_t b = 0; b < s.batch; ++b) {
      const size_t state = (c.batch_first ? b * d + dir : dir * s.batch + b) * n;
      std::vector<double> h(n), cell(n);
      for (size_t i = 0; i < n && c.initial; ++i) h[i] = t.h0[state + i], cell[i] = t.c0[state + i];
      const size_t length = c.lengths ? static_cast<size_t>(t.lengths[b]) : s.steps;
      const bool reverse = d == 2 ? dir == 1 : s.reverse;
      for (size_t step = 0; step < s.steps; ++step) {
        const size_t time = step < length && reverse ? length - 1 - step : step;
        const size_t y =
            (c.batch_first ? (b * s.steps + time) * d + dir : (time * d + dir) * s.batch + b) * n;
        if (step >= length) {
          for (size_t i = 0; i < n; ++i) differ(t.y[y + i], 0);
          continue;
        }
        const float* x = &t.x[(c.batch_first ? b * s.steps + time : time * s.batch + b) * s.input];
        std::vector<double> next(n);
        for (size_t i = 0; i < n; ++i) {
          double gate[4];
          for (size_t g = 0; g < 4; ++g) {
            const size_t row = dir * 4 * n + g * n + i;
            gate[g] = c.bias ? t.b[dir * 8 * n + g * n + i] +
                                   static_cast<double>(t.b[dir * 8 * n + (4 + g) * n + i])
                             : 0;
            for (size_t k = 0; k < s.input; ++k)
              gate[g] += static_cast<double>(t.w[row * s.input + k]) * x[k];
            for (size_t k = 0; k < n; ++k) gate[g] += t.r[row * n + k] * h[k];
          }
          const float* p = &t.p[dir * 3 * n + i];
          const auto clip = [&](double v) {
            return s.clip > 0 ? std::min<double>(s.clip, std::max<double>(-s.clip, v)) : v;
          };
          if (s.peepholes) gate[0] += p[0] * cell[i], gate[2] += p[2 * n] * cell[i];
          const double in = apply(s.f[dir], clip(gate[0]));
          const double forget = s.input_forget ? 1 - in : apply(s.f[dir], clip(gate[2]));
          cell[i] = forget * cell[i] + in * apply(s.g[dir], clip(gate[3]));
          if (s.peepholes) gate[1] += p[n] * cell[i];
          next[i] = apply(s.f[dir], clip(gate[1])) * apply(s.h[dir], cell[i]);
        }
        h = next;
        for (size_t i = 0; i < n; ++i) differ(t.y[y + i], h[i]);
      }
      if (length == 0) h.assign(n, 0), cell.assign(n, 0);  // of no steps there is no last state
      for (size_t i = 0; i < n; ++i) differ(t.h[state + i], h[i]), differ(t.c[state + i], cell[i]);
    }
  return worst;
}

TEST_CASE("sizes, directions, lengths, peepholes") {
  for_each_isa([](Isa) {
    testing::Random random(31);
    Serial serial;
    testing::Threads threads(3);
    for (uint64_t round = 0; round < 60; ++round) {
      Case c;
      LstmShape& s = c.shape;
      s.steps = random.below(9), s.batch = 1 + random.below(11), s.input = 1 + random.below(40);
      s.hidden = 1 + random.below(40), s.directions = 1 + random.below(2);
      s.reverse = random.below(2), s.peepholes = random.below(3) == 0, s.input_forget = random.below(5) == 0;
      s.clip = random.below(4) == 0 ? 0.4f : 0.0f;
      c.lengths = random.below(2), c.bias = random.below(4), c.initial = random.below(3),
      c.batch_first = random.below(2);
      Tensors t = make(c, round);
      run(c, t, round % 2 ? static_cast<Parallel&>(serial) : threads);
      CAPTURE(round);
      CHECK(worst_error(c, t) < 3e-6);
    }
  });
}

TEST_CASE("every activation") {
  for_each_isa([](Isa) {
    for (int kind = 0; kind <= static_cast<int>(LstmActivation::softplus); ++kind) {
      Case c;
      c.shape.steps = 3, c.shape.batch = 2, c.shape.input = 5, c.shape.hidden = 19;
      c.shape.f[0] = c.shape.g[0] = c.shape.h[0] = {static_cast<LstmActivation>(kind), 0.3f, 0.6f};
      Tensors t = make(c, 5);
      Serial serial;
      run(c, t, serial);
      CAPTURE(kind);
      CHECK(worst_error(c, t) < 1e-5);
    }
  });
}

TEST_CASE("a long sequence is bit-equal on any number of threads") {
  for_each_isa([](Isa) {
    Case c;
    c.shape.steps = 70, c.shape.batch = 9, c.shape.input = 64, c.shape.hidden = 64, c.shape.directions = 2;
    Tensors one = make(c, 6), many = one;
    Serial serial;
    testing::Threads threads(4);
    run(c, one, serial);
    run(c, many, threads);
    CHECK(one.y == many.y);
    CHECK(one.c == many.c);
    CHECK(worst_error(c, one) < 5e-6);
  });
}

}  // namespace
