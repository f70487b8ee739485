// SPDX-License-Identifier: Apache-2.0
// The matrix product at every vector level against sums in float64.
#include "kernels/gemm.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernel_testing.h"

using namespace sx;
using namespace sx::kernels;

namespace {

double activation_f64(Activation kind, double low, double high, double x) {
  const auto sigmoid = [](double v) { return 1.0 / (1.0 + std::exp(-v)); };
  const auto clamp01 = [](double v) { return std::fmin(1.0, std::fmax(0.0, v)); };
  switch (kind) {
    case Activation::none: return x;
    case Activation::relu: return std::fmax(0.0, x);
    case Activation::clip: return std::fmin(high, std::fmax(low, x));
    case Activation::leaky_relu: return x < 0 ? low * x : x;
    case Activation::sigmoid: return sigmoid(x);
    case Activation::tanh: return std::tanh(x);
    case Activation::silu: return x * sigmoid(x);
    case Activation::hard_sigmoid: return clamp01(low * x + high);
    case Activation::hard_swish: return x * clamp01(x / 6 + 0.5);
    case Activation::gelu: return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case Activation::elu: return x < 0 ? low * std::expm1(x) : x;
    case Activation::softplus: return std::log1p(std::exp(x));
    case Activation::mish: return x * std::tanh(std::log1p(std::exp(x)));
  }
  return 0;
}

struct Case {
  GemmShape shape;
  BSource source = BSource::packed;
  Epilogue epilogue;
  bool bias = false, residual = false, in_place = false;
};

struct Data {
  std::vector<float> a, b, c, bias, residual;
};

size_t batch_of(const GemmShape& s) { return s.batch[0] * s.batch[1]; }

// Operands with strides filled in: rows a little longer than needed, so that strides matter.
Data make_data(Case& t, uint64_t seed) {
  testing::Random random(seed);
  GemmShape& s = t.shape;
  const size_t a_rows = s.trans_a ? s.k : s.m, b_rows = s.trans_b ? s.n : s.k;
  if (s.lda == 0) s.lda = (s.trans_a ? s.m : s.k) + 3;
  if (s.ldb == 0) s.ldb = (s.trans_b ? s.k : s.n) + 5;
  if (s.ldc == 0) s.ldc = s.n + 2;
  const size_t batch = batch_of(s);
  const auto strides = [&](ptrdiff_t(&to)[2], size_t size) {
    to[1] = static_cast<ptrdiff_t>(size);
    to[0] = static_cast<ptrdiff_t>(size * s.batch[1]);
  };
  Data d;
  strides(s.a_batch, a_rows * s.lda);
  strides(s.c_batch, s.m * s.ldc);
  d.a = random.floats(batch * a_rows * s.lda);
  if (t.source == BSource::plain) strides(s.b_batch, b_rows * s.ldb);
  d.b = random.floats((t.source == BSource::plain ? batch : 1) * b_rows * s.ldb);
  d.c.assign(batch * s.m * s.ldc, 99.0f);
  if (t.bias) d.bias = random.floats(t.epilogue.bias_axis == BiasAxis::rows ? s.m : s.n);
  if (t.residual) {
    d.residual = random.floats(batch * s.m * s.ldc);
    t.epilogue.residual_stride = s.ldc;
    strides(t.epilogue.residual_batch, s.m * s.ldc);
  }
  return d;
}

std::vector<float> run(const Case& t, const Data& d, Parallel& parallel) {
  const GemmPlan plan(t.shape, t.source);
  std::vector<float> packed, c = t.in_place ? d.residual : d.c;
  std::vector<float> scratch(plan.scratch_floats(parallel.width()) + 16);
  Epilogue e = t.epilogue;
  if (t.bias) e.bias = d.bias.data();
  if (t.residual) e.residual = t.in_place ? c.data() : d.residual.data();
  const float* b = d.b.data();
  if (t.source == BSource::packed) {
    packed.resize(plan.packed_b_floats());
    std::vector<char> bytes(d.b.size() * 4 + 1);  // weights in a file begin anywhere
    std::memcpy(bytes.data() + 1, d.b.data(), d.b.size() * 4);
    pack_b(plan, bytes.data() + 1, packed.data(), parallel);
    b = packed.data();
  }
  run_gemm(plan, d.a.data(), b, c.data(), e, scratch.data(), parallel);
  return c;
}

// The largest error, in units of 2^-24 times the sum of magnitudes; also counts what must not have been
// touched.
double error_of(const Case& t, const Data& d, const std::vector<float>& c) {
  const GemmShape& s = t.shape;
  double worst = 0;
  for (size_t entry = 0; entry < batch_of(s); ++entry) {
    const float* a = d.a.data() + entry * s.a_batch[1];
    const float* b = d.b.data() + entry * s.b_batch[1];
    for (size_t i = 0; i < s.m; ++i)
      for (size_t j = 0; j < s.ldc; ++j) {
        const size_t at = entry * s.c_batch[1] + i * s.ldc + j;
        if (j >= s.n) {
          if (c[at] != (t.in_place ? d.residual[at] : 99.0f)) return 1e30;
          continue;
        }
        double sum = 0, size = 0;
        for (size_t k = 0; k < s.k; ++k) {
          const double x = double(a[s.trans_a ? k * s.lda + i : i * s.lda + k]) *
                           double(b[s.trans_b ? j * s.ldb + k : k * s.ldb + j]);
          sum += x, size += std::fabs(x);
        }
        sum *= t.epilogue.alpha, size *= std::fabs(t.epilogue.alpha);
        if (t.residual) sum += double(t.epilogue.beta) * d.residual[at], size += 1;
        if (t.bias)
          sum += double(t.epilogue.bias_scale) * d.bias[t.epilogue.bias_axis == BiasAxis::rows ? i : j],
              size += 1;
        const double y = activation_f64(t.epilogue.activation, t.epilogue.low, t.epilogue.high, sum);
        const double error = std::fabs(y - c[at]);
        if (!(error < 1e9)) return 1e30;
        worst = std::max(worst, error / (size + 1) * 16777216.0);
      }
  }
  return worst;
}

void check(Case t, double bound = 16) {
  testing::for_each_isa([&](Isa isa) {
    CAPTURE(isa_name(isa));
    CAPTURE(t.shape.m);
    CAPTURE(t.shape.n);
    CAPTURE(t.shape.k);
    Case mine = t;
    const Data d = make_data(mine, 7 + t.shape.m * 31 + t.shape.n);
    Serial serial;
    const auto one = run(mine, d, serial);
    CHECK(error_of(mine, d, one) < bound);
    for (size_t width : {2u, 8u}) {
      testing::Threads threads(width);
      CHECK(run(mine, d, threads) == one);
    }
  });
}

}  // namespace

TEST_CASE("few rows over two, three and more panels") {
  for (size_t m : {1u, 2u, 3u, 4u})
    for (size_t n : {9u, 17u, 33u, 49u, 63u, 64u, 65u, 97u, 128u, 130u, 200u})
      check({{.m = m, .n = n, .k = 100}, BSource::packed, {}, true, true});
}

// Chains of 2,000 additions of positive values are off by 25 units and more.
TEST_CASE("long sums are added in pieces") {
  for (size_t m : {1u, 3u, 40u}) {
    Case t = {{.m = m, .n = 70, .k = 4000}};
    Data d = make_data(t, 5);
    for (float& x : d.a) x = 1 + x / 2;
    for (float& x : d.b) x = 1 + x / 2;
    testing::for_each_isa([&](Isa isa) {
      CAPTURE(isa_name(isa));
      CAPTURE(m);
      Serial serial;
      CHECK(error_of(t, d, run(t, d, serial)) < 10);
    });
  }
}

TEST_CASE("tails in every dimension") {
  for (size_t m : {1u, 2u, 3u, 4u, 5u, 13u, 15u, 29u})
    for (size_t n : {1u, 7u, 16u, 17u, 31u, 33u, 64u, 100u, 150u})
      for (size_t k : {1u, 3u, 16u, 37u}) check({.shape = {.m = m, .n = n, .k = k}});
}

TEST_CASE("transposed operands, plain and packed B") {
  for (bool trans_a : {false, true})
    for (bool trans_b : {false, true})
      for (BSource source : {BSource::packed, BSource::plain})
        for (size_t m : {1u, 6u, 40u})
          check({.shape = {.m = m, .n = 45, .k = 67, .trans_a = trans_a, .trans_b = trans_b},
                 .source = source});
}

TEST_CASE("long sums are cut, and a stride of whole pages is copied") {
  check({.shape = {.m = 20, .n = 40, .k = 5000}, .residual = true}, 64);
  check({.shape = {.m = 20, .n = 140, .k = 200, .lda = 1024}});
  check({.shape = {.m = 20, .n = 40, .k = 4100},
         .epilogue = {.alpha = 0.5f, .beta = 2.0f},
         .residual = true,
         .in_place = true},
        64);
}

TEST_CASE("many chunks") {
  check({.shape = {.m = 300, .n = 400, .k = 300}});
  check({.shape = {.m = 1, .n = 3000, .k = 700}});
  check({.shape = {.m = 300, .n = 400, .k = 300, .trans_b = true}, .source = BSource::plain});
}

TEST_CASE("batches") {
  for (BSource source : {BSource::packed, BSource::plain}) {
    check({.shape = {.m = 33, .n = 40, .k = 16, .batch = {2, 3}}, .source = source});
    check({.shape = {.m = 300, .n = 300, .k = 300, .batch = {2, 1}}, .source = source});
  }
}

TEST_CASE("epilogues") {
  constexpr Activation kAll[] = {Activation::none,       Activation::relu,         Activation::clip,
                                 Activation::leaky_relu, Activation::sigmoid,      Activation::tanh,
                                 Activation::silu,       Activation::hard_sigmoid, Activation::hard_swish,
                                 Activation::gelu,       Activation::gelu_tanh,    Activation::elu,
                                 Activation::softplus,   Activation::mish};
  for (Activation activation : kAll)
    check({.shape = {.m = 17, .n = 45, .k = 20},
           .epilogue = {.activation = activation, .low = 0.2f, .high = 0.5f},
           .bias = true,
           .residual = true},
          48);
  check({.shape = {.m = 17, .n = 45, .k = 20},
         .epilogue = {.alpha = 0.25f, .bias_axis = BiasAxis::rows, .bias_scale = 3.0f, .beta = -2.0f},
         .bias = true,
         .residual = true});
}

TEST_CASE("NaN passes through relu and clip") {
  testing::for_each_isa([&](Isa) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float a[1] = {nan}, b[3] = {1, 2, 3};
    for (Activation activation : {Activation::relu, Activation::clip}) {
      float c[3] = {0, 0, 0};
      const GemmPlan plan({.m = 1, .n = 3, .k = 1}, BSource::plain);
      std::vector<float> scratch(plan.scratch_floats(1));
      Serial serial;
      run_gemm(plan, a, b, c, {.activation = activation, .low = -1, .high = 1}, scratch.data(), serial);
      for (float x : c) CHECK(std::isnan(x));
    }
  });
}

TEST_CASE("post sees every element once, after everything else") {
  const GemmPlan plan({.m = 37, .n = 70, .k = 8}, BSource::plain);
  testing::Random random(3);
  const auto a = random.floats(37 * 8), b = random.floats(8 * 70);
  std::vector<float> c(37 * 70), seen(37 * 70, 0.0f), scratch(plan.scratch_floats(1));
  Epilogue e;
  e.post = [](void* context, float* rows, size_t, size_t row0, size_t nrows, size_t col0, size_t ncols,
              size_t stride) {
    for (size_t i = 0; i < nrows; ++i)
      for (size_t j = 0; j < ncols; ++j) {
        static_cast<float*>(context)[(row0 + i) * 70 + col0 + j] += 1;
        rows[i * stride + j] = 5;
      }
  };
  e.post_context = seen.data();
  Serial serial;
  run_gemm(plan, a.data(), b.data(), c.data(), e, scratch.data(), serial);
  for (float x : seen) REQUIRE(x == 1);
  for (float x : c) REQUIRE(x == 5);
}

TEST_CASE("nothing to multiply") {
  Serial serial;
  float c[4] = {9, 9, 9, 9};
  const GemmPlan no_inner({.m = 2, .n = 2, .k = 0}, BSource::plain);
  std::vector<float> scratch(no_inner.scratch_floats(1) + 1);
  run_gemm(no_inner, nullptr, nullptr, c, {}, scratch.data(), serial);
  for (float x : c) CHECK(x == 0);
  const GemmPlan no_rows({.m = 0, .n = 2, .k = 3}, BSource::plain);
  run_gemm(no_rows, nullptr, nullptr, nullptr, {}, scratch.data(), serial);
}
