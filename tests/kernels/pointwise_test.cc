// SPDX-License-Identifier: Apache-2.0
// Pointwise programs against the C library in float64, over every access pattern, at every vector level.
#include "kernels/pointwise.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "kernel_testing.h"
#include "kernels/gemm.h"
#include "kernels/pointwise_epilogue.h"

using namespace sx;
using namespace sx::kernels;
using sx::testing::for_each_isa;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

double ulps(float got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
  const float nearest = static_cast<float>(want);
  if (std::isinf(nearest) || std::isinf(got)) return nearest == got ? 0 : 1e9;
  if (std::fabs(want) < 1.2e-38) return std::fabs(got - want) < 1.2e-38 ? 0 : 1e9;
  int e;
  std::frexp(nearest, &e);
  return std::fabs(got - want) / std::ldexp(1.0, e - 24);
}

std::vector<float> run_flat(const PointwiseProgram& program, const std::vector<const void*>& inputs,
                            size_t n) {
  std::vector<float> y(n);
  const ptrdiff_t unit = 1;
  std::vector<PwOperand> operands(inputs.size() + 1, PwOperand{{&unit, 1}});
  auto plan = PointwisePlan::make(program, {&n, 1}, operands);
  REQUIRE(plan.ok());
  void* out = y.data();
  Serial serial;
  pointwise_run(program, *plan, inputs.data(), &out, serial);
  return y;
}

using Reference = double (*)(double);
struct UnaryCase {
  const char* name;
  PwOp op;
  float p, q;
  float low, high;
  double ulp;
  Reference f;
};

double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const UnaryCase kUnary[] = {
    {"neg", PwOp::neg, 0, 0, -9, 9, 0, [](double x) { return -x; }},
    {"abs", PwOp::abs, 0, 0, -9, 9, 0, [](double x) { return std::fabs(x); }},
    {"square", PwOp::square, 0, 0, -9, 9, 0.5, [](double x) { return x * x; }},
    {"sqrt", PwOp::sqrt, 0, 0, 0, 1e9, 0.51, [](double x) { return std::sqrt(x); }},
    {"rsqrt", PwOp::rsqrt, 0, 0, 1e-9f, 1e9, 1.6, [](double x) { return 1 / std::sqrt(x); }},
    {"reciprocal", PwOp::reciprocal, 0, 0, -9, 9, 0.51, [](double x) { return 1 / x; }},
    {"exp", PwOp::exp, 0, 0, -103, 89, 2, [](double x) { return std::exp(x); }},
    {"log", PwOp::log, 0, 0, 0, 100, 2, [](double x) { return std::log(x); }},
    {"erf", PwOp::erf, 0, 0, -5, 5, 3, [](double x) { return std::erf(x); }},
    {"tanh", PwOp::tanh, 0, 0, -12, 12, 3, [](double x) { return std::tanh(x); }},
    {"sigmoid", PwOp::sigmoid, 0, 0, -87, 30, 3, sigmoid},
    {"sin", PwOp::sin, 0, 0, -2e6, 2e6, 2, [](double x) { return std::sin(x); }},
    {"cos", PwOp::cos, 0, 0, -50, 50, 2, [](double x) { return std::cos(x); }},
    {"relu", PwOp::relu, 0, 0, -9, 9, 0, [](double x) { return x < 0 ? 0 : x; }},
    {"leaky_relu", PwOp::leaky_relu, 0.25f, 0, -9, 9, 0.5, [](double x) { return x < 0 ? 0.25 * x : x; }},
    {"elu", PwOp::elu, 1.5f, 0, -30, 9, 3, [](double x) { return x > 0 ? x : 1.5 * std::expm1(x); }},
    {"selu", PwOp::selu, 1.5f, 2, -30, 9, 3, [](double x) { return x > 0 ? 2 * x : 3 * std::expm1(x); }},
    {"celu", PwOp::celu, 2, 0, -30, 9, 3, [](double x) { return x > 0 ? x : 2 * std::expm1(x / 2); }},
    {"thresholded", PwOp::thresholded_relu, 1, 0, -9, 9, 0, [](double x) { return x > 1 ? x : 0; }},
    {"clip", PwOp::clip, -1, 2, -9, 9, 0, [](double x) { return x < -1  ? -1
                                                                : x > 2 ? 2
                                                                        : x; }},
    {"softplus", PwOp::softplus, 0, 0, -80, 80, 3, softplus},
    {"softsign", PwOp::softsign, 0, 0, -9, 9, 1.5, [](double x) { return x / (1 + std::fabs(x)); }},
    {"floor", PwOp::floor, 0, 0, -9e6, 9e6, 0, [](double x) { return std::floor(x); }},
    {"ceil", PwOp::ceil, 0, 0, -9e6, 9e6, 0, [](double x) { return std::ceil(x); }},
    {"round", PwOp::round, 0, 0, -9e6, 9e6, 0, [](double x) { return std::nearbyint(x); }},
    {"sign", PwOp::sign, 0, 0, -9, 9, 0, [](double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }},
    {"is_nan", PwOp::is_nan, 0, 0, -9, 9, 0, [](double x) { return std::isnan(x) ? 1.0 : 0.0; }},
    {"is_inf", PwOp::is_inf, 1, 0, -9, 9, 0, [](double x) { return std::isinf(x) && x > 0 ? 1.0 : 0.0; }},
    {"not", PwOp::logical_not, 0, 0, -9, 9, 0, [](double x) { return x == 0 ? 1.0 : 0.0; }},
    {"mish", PwOp::mish, 0, 0, -80, 40, 5, [](double x) { return x * std::tanh(softplus(x)); }},
    {"silu", PwOp::silu, 0, 0, -80, 40, 4, [](double x) { return x * sigmoid(x); }},
    {"swish", PwOp::swish, 2, 0, -40, 40, 4, [](double x) { return x * sigmoid(2 * x); }},
};

TEST_CASE("instructions with one operand keep their bound in ulp and their special values") {
  for_each_isa([](Isa isa) {
    for (const UnaryCase& c : kUnary) {
      CAPTURE(std::string(c.name));
      CAPTURE(isa_name(isa));
      PointwiseBuilder b;
      const auto x = b.input(PwType::f32);
      b.output(b.op_with(c.op, x, c.p, c.q), PwType::f32);
      auto program = b.build();
      REQUIRE(program.ok());
      testing::Random random(7);
      std::vector<float> v = random.floats(20011, c.low, c.high);
      for (float s :
           {0.0f, -0.0f, kInf, -kInf, kNan, 1e-40f, -1e-40f, 1.0f, -1.0f, 0.5f, -2.5f, 3e38f, -3e38f})
        v.push_back(s);
      for (int e = -140; e < 127; ++e) v.push_back(std::ldexp(1.1f, e)), v.push_back(-std::ldexp(1.3f, e));
      const std::vector<float> y = run_flat(*program, {v.data()}, v.size());
      double worst = 0;
      float at = 0;
      for (size_t i = 0; i < v.size(); ++i) {
        const double e = ulps(y[i], c.f(v[i]));
        if (e > worst) worst = e, at = v[i];
      }
      CAPTURE(at);
      CHECK(worst <= c.ulp);
    }
  });
}

TEST_CASE("gelu and its relatives are right in absolute terms") {
  for_each_isa([](Isa) {
    testing::Random random(8);
    const std::vector<float> v = random.floats(5003, -12, 12);
    const struct {
      PwOp op;
      Reference f;
      float p, q;
    } cases[] = {
        {PwOp::gelu, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }, 0, 0},
        {PwOp::gelu_tanh,
         [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); },
         0, 0},
        {PwOp::hard_sigmoid, [](double x) { return std::min(1.0, std::max(0.0, 0.25 * x + 0.5)); }, 0.25f,
         0.5f},
        {PwOp::hard_swish, [](double x) { return x * std::min(1.0, std::max(0.0, x / 6 + 0.5)); }, 0, 0}};
    for (const auto& c : cases) {
      PointwiseBuilder b;
      const auto x = b.input(PwType::f32);
      b.output(b.op_with(c.op, x, c.p, c.q), PwType::f32);
      auto program = b.build();
      REQUIRE(program.ok());
      const std::vector<float> y = run_flat(*program, {v.data()}, v.size());
      for (size_t i = 0; i < v.size(); ++i) CHECK(y[i] == doctest::Approx(c.f(v[i])).epsilon(1e-6).scale(1));
    }
  });
}

TEST_CASE("instructions with two and three operands, NaN included") {
  const std::vector<float> special = {0.0f, -0.0f, 1,     -1,   2,     -2,    0.5f,  3,
                                      -3,   kInf,  -kInf, kNan, 1e30f, 7.25f, -0.75f};
  std::vector<float> x, y;
  for (float a : special)
    for (float b : special) x.push_back(a), y.push_back(b);
  testing::Random random(9);
  for (int i = 0; i < 1000; ++i) x.push_back(random.uniform(0, 20)), y.push_back(random.uniform(-9, 9));
  using F = double (*)(double, double);
  const struct {
    PwOp op;
    double ulp;
    F f;
  } cases[] = {
      {PwOp::add, 0.5, [](double a, double b) { return a + b; }},
      {PwOp::sub, 0.5, [](double a, double b) { return a - b; }},
      {PwOp::mul, 0.5, [](double a, double b) { return a * b; }},
      {PwOp::div, 0.51, [](double a, double b) { return a / b; }},
      {PwOp::min, 0,
       [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNan
                                       : a < b                        ? a
                                                                      : b; }},
      {PwOp::max, 0,
       [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNan
                                       : a > b                        ? a
                                                                      : b; }},
      {PwOp::pow, 2, [](double a, double b) { return std::pow(a, b); }},
      {PwOp::prelu, 0.5, [](double a, double b) { return a < 0 ? a * b : a; }},
      {PwOp::less, 0, [](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {PwOp::less_equal, 0, [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
      {PwOp::greater, 0, [](double a, double b) { return a > b ? 1.0 : 0.0; }},
      {PwOp::greater_equal, 0, [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
      {PwOp::equal, 0, [](double a, double b) { return a == b ? 1.0 : 0.0; }},
      {PwOp::not_equal, 0, [](double a, double b) { return a != b ? 1.0 : 0.0; }},
      {PwOp::logical_and, 0, [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
      {PwOp::logical_or, 0, [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
      {PwOp::logical_xor, 0, [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; }},
  };
  for_each_isa([&](Isa) {
    for (const auto& c : cases) {
      CAPTURE(static_cast<int>(c.op));
      PointwiseBuilder b;
      const auto p = b.input(PwType::f32), q = b.input(PwType::f32);
      b.output(b.op(c.op, p, q), PwType::f32);
      auto program = b.build();
      REQUIRE(program.ok());
      const std::vector<float> z = run_flat(*program, {x.data(), y.data()}, x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        CAPTURE(x[i]);
        CAPTURE(y[i]);
        CHECK(ulps(z[i], c.f(x[i], y[i])) <= c.ulp);
      }
    }
  });
}

// A chain over random shapes with random broadcasts, permuted strides and element types.
void check_shapes(uint64_t seed, Parallel& parallel) {
  testing::Random random(seed);
  const size_t rank = 1 + random.below(5);
  std::vector<size_t> dims(rank);
  for (size_t& d : dims) d = 1 + random.below(random.below(3) ? 9 : 70);
  if (random.below(12) == 0) dims[random.below(rank)] = 0;
  size_t total = 1;
  for (size_t d : dims) total *= d;

  std::vector<std::vector<ptrdiff_t>> strides(5, std::vector<ptrdiff_t>(rank));
  size_t reach = 1;
  for (int k = 0; k < 5; ++k) {
    std::vector<size_t> order(rank);
    for (size_t d = 0; d < rank; ++d) order[d] = rank - 1 - d;
    if (random.below(4) == 0)
      for (size_t d = rank; d > 1; --d) std::swap(order[d - 1], order[random.below(d)]);
    ptrdiff_t step = random.below(6) == 0 ? 2 : 1;
    for (size_t d : order) {
      const bool broadcast = k < 4 && random.below(3) == 0;
      strides[k][d] = broadcast ? 0 : step;
      if (!broadcast) step *= static_cast<ptrdiff_t>(dims[d] ? dims[d] : 1);
    }
    reach = std::max(reach, static_cast<size_t>(step) + 1);
  }
  std::vector<float> a = random.floats(reach), y(reach, 0.0f);
  std::vector<uint8_t> m(reach);
  std::vector<int32_t> i32(reach);
  std::vector<int64_t> i64(reach);
  for (size_t i = 0; i < reach; ++i) {
    m[i] = random.below(2) ? 1 : 0;
    i32[i] = static_cast<int32_t>(random.next());
    i64[i] = i32[i] + (random.below(2) ? 0 : 1);
  }
  // y = select(m and i32 < i64, a * 3, -a), z = i32 + i64
  PointwiseBuilder b;
  const auto va = b.input(PwType::f32), vm = b.input(PwType::boolean);
  const auto v32 = b.input(PwType::i32), v64 = b.input(PwType::i64);
  const auto c = b.op(PwOp::logical_and, vm, b.op(PwOp::i_less, v32, v64));
  b.output(b.op(PwOp::select, c, b.op(PwOp::mul, va, b.constant(3)), b.op(PwOp::neg, va)), PwType::f32);
  b.output(b.op(PwOp::i_add, v32, v64), PwType::i32);
  b.output(c, PwType::boolean);
  auto program = b.build();
  REQUIRE(program.ok());
  std::vector<ptrdiff_t> dense(rank);
  ptrdiff_t step = 1;
  for (size_t d = rank; d-- > 0;) dense[d] = step, step *= static_cast<ptrdiff_t>(dims[d]);
  const PwOperand operands[] = {{strides[0]}, {strides[1]}, {strides[2]}, {strides[3]},
                                {strides[4]}, {dense},      {dense}};
  auto plan = PointwisePlan::make(*program, dims, operands);
  REQUIRE(plan.ok());
  std::vector<int32_t> z(total);
  std::vector<uint8_t> w(total);
  const void* in[] = {a.data(), m.data(), i32.data(), i64.data()};
  void* out[] = {y.data(), z.data(), w.data()};
  pointwise_run(*program, *plan, in, out, parallel);
  size_t bad = 0;
  for (size_t flat = 0; flat < total; ++flat) {
    ptrdiff_t at[5] = {};
    size_t rest = flat;
    for (size_t d = rank; d-- > 0; rest /= dims[d])
      for (int k = 0; k < 5; ++k) at[k] += static_cast<ptrdiff_t>(rest % dims[d]) * strides[k][d];
    const bool want = m[at[1]] && i32[at[2]] < i64[at[3]];
    bad += y[at[4]] != (want ? a[at[0]] * 3 : -a[at[0]]);
    bad += z[flat] != static_cast<int32_t>(i32[at[2]] + i64[at[3]]);
    bad += w[flat] != (want ? 1 : 0);
  }
  CAPTURE(seed);
  CHECK(bad == 0);
}

TEST_CASE("every broadcast and stride, one thread and three") {
  for_each_isa([](Isa) {
    Serial serial;
    testing::Threads threads(3);
    for (uint64_t seed = 1; seed < 150; ++seed)
      check_shapes(seed, seed % 3 ? static_cast<Parallel&>(serial) : threads);
  });
}

TEST_CASE("an output may take the place of an input that is still read later") {
  PointwiseBuilder b;
  const auto x = b.input(PwType::f32), y = b.input(PwType::f32);
  const auto s = b.op(PwOp::add, x, y);
  b.output(s, PwType::f32);
  b.output(b.op(PwOp::mul, s, x), PwType::f32);
  auto program = b.build();
  REQUIRE(program.ok());
  const size_t n = 5000;
  const ptrdiff_t unit = 1;
  const PwOperand operands[] = {{{&unit, 1}}, {{&unit, 1}}, {{&unit, 1}}, {{&unit, 1}}};
  auto plan = PointwisePlan::make(*program, {&n, 1}, operands);
  REQUIRE(plan.ok());
  testing::Random random(3);
  std::vector<float> a = random.floats(n), c = random.floats(n), keep = a, p(n);
  const void* in[] = {a.data(), c.data()};
  void* out[] = {a.data(), p.data()};
  pointwise_apply(*program, *plan, in, out);
  for (size_t i = 0; i < n; ++i) {
    REQUIRE(a[i] == keep[i] + c[i]);
    REQUIRE(p[i] == (keep[i] + c[i]) * keep[i]);
  }
}

TEST_CASE("a program as the epilogue of a matrix product") {
  for_each_isa([](Isa) {
    const size_t m = 150, n = 70, k = 20;
    testing::Random random(5);
    const std::vector<float> a = random.floats(m * k), w = random.floats(k * n), scale = random.floats(n),
                             other = random.floats(m * n);
    PointwiseBuilder b;
    const auto x = b.input(PwType::f32), s = b.input(PwType::f32), o = b.input(PwType::f32);
    b.output(b.op(PwOp::tanh, b.op(PwOp::mul_add, x, s, o)), PwType::f32);
    auto program = b.build();
    REQUIRE(program.ok());
    PointwiseEpilogue context;
    context.program = &*program;
    context.extras[0] = {scale.data(), 0, 0, 1, 1};
    context.extras[1] = {other.data(), 0, n, 1, 1};
    GemmShape shape;
    shape.m = m, shape.n = n, shape.k = k;
    const GemmPlan plan(shape, BSource::plain);
    std::vector<float> c(m * n), scratch(plan.scratch_floats(1) + 16);
    Epilogue epilogue;
    epilogue.post = pointwise_post;
    epilogue.post_context = &context;
    float* aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64 / 4;
    Serial serial;
    run_gemm(plan, a.data(), w.data(), c.data(), epilogue, aligned, serial);
    double worst = 0;
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (size_t l = 0; l < k; ++l) sum += static_cast<double>(a[i * k + l]) * w[l * n + j];
        worst = std::max(worst, std::fabs(c[i * n + j] - std::tanh(sum * scale[j] + other[i * n + j])));
      }
    CHECK(worst < 2e-6);
  });
}

TEST_CASE("a wrong program is refused with a reason") {
  PointwiseBuilder b;
  const auto x = b.input(PwType::i64);
  b.output(b.op(PwOp::exp, x), PwType::f32);
  CHECK_FALSE(b.build().ok());
  PointwiseBuilder c;
  const auto y = c.input(PwType::f32);
  c.output(c.op(PwOp::add, y), PwType::f32);
  CHECK_FALSE(c.build().ok());
  PointwiseBuilder d;
  d.output(d.input(PwType::f32), PwType::i64);
  CHECK_FALSE(d.build().ok());
}

}  // namespace
