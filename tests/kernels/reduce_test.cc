// SPDX-License-Identifier: Apache-2.0
// Reductions over random shapes, axes and strides against float64, at every vector level.
#include "kernels/reduce.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "kernel_testing.h"

using namespace sx;
using namespace sx::kernels;
using sx::testing::for_each_isa;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const ReduceOp kOps[] = {ReduceOp::sum,     ReduceOp::mean,       ReduceOp::prod, ReduceOp::max,
                         ReduceOp::min,     ReduceOp::sum_square, ReduceOp::l1,   ReduceOp::l2,
                         ReduceOp::log_sum, ReduceOp::log_sum_exp};

double reduce_f64(ReduceOp op, const std::vector<double>& v) {
  double sum = 0, prod = 1, top = -kInf, low = kInf, squares = 0, absolute = 0, exps = 0;
  for (double x : v) {
    sum += x, prod *= x, squares += x * x, absolute += std::fabs(x);
    top = std::isnan(x) || x > top ? x : top;
    low = std::isnan(x) || x < low ? x : low;
  }
  for (double x : v) exps += std::exp(x - top);
  switch (op) {
    case ReduceOp::sum: return sum;
    case ReduceOp::mean: return sum / static_cast<double>(v.size());
    case ReduceOp::prod: return prod;
    case ReduceOp::max: return top;
    case ReduceOp::min: return low;
    case ReduceOp::sum_square: return squares;
    case ReduceOp::l1: return absolute;
    case ReduceOp::l2: return std::sqrt(squares);
    case ReduceOp::log_sum: return std::log(sum);
    case ReduceOp::log_sum_exp: return std::isinf(top) ? top : top + std::log(exps);
  }
  return 0;
}

void check(ReduceOp op, const std::vector<size_t>& dims, const std::vector<ptrdiff_t>& strides,
           uint64_t axes_bits, const std::vector<float>& x, ptrdiff_t first, Parallel& parallel) {
  const size_t rank = dims.size();
  std::unique_ptr<bool[]> axes(new bool[rank + 1]);
  size_t results = 1, count = 1;
  for (size_t d = 0; d < rank; ++d) {
    axes[d] = axes_bits >> d & 1;
    (axes[d] ? count : results) *= dims[d];
  }
  auto plan = ReducePlan::make(op, dims, strides, {axes.get(), rank});
  REQUIRE(plan.ok());
  REQUIRE(plan->results() == results);
  std::vector<float> y(results, 777.0f);
  reduce_run(*plan, x.data() + first, y.data(), parallel);
  size_t bad = 0;
  for (size_t i = 0; i < results; ++i) {
    std::vector<double> v;
    for (size_t k = 0; k < count; ++k) {
      size_t a = i, b = k;
      ptrdiff_t at = first;
      for (size_t d = rank; d-- > 0;) {
        size_t& from = axes[d] ? b : a;
        at += static_cast<ptrdiff_t>(from % dims[d]) * strides[d];
        from /= dims[d];
      }
      v.push_back(x[static_cast<size_t>(at)]);
    }
    const double want = reduce_f64(op, v);
    const bool special = std::isnan(want) || std::isinf(want);
    const bool right = special ? (std::isnan(want) ? std::isnan(y[i]) : y[i] == want)
                               : std::fabs(y[i] - want) <= 1e-6 * std::fabs(want) + 1e-6;
    bad += !right;
  }
  CAPTURE(static_cast<int>(op));
  CAPTURE(axes_bits);
  CHECK(bad == 0);
}

std::vector<ptrdiff_t> dense(const std::vector<size_t>& dims) {
  std::vector<ptrdiff_t> s(dims.size());
  ptrdiff_t step = 1;
  for (size_t d = dims.size(); d-- > 0;) s[d] = step, step *= static_cast<ptrdiff_t>(dims[d]);
  return s;
}

TEST_CASE("every operation over every set of axes") {
  for_each_isa([](Isa) {
    Serial serial;
    testing::Threads threads(3);
    testing::Random random(1);
    const std::vector<std::vector<size_t>> shapes = {
        {1},        {37},       {5, 7},         {3, 4, 33}, {2, 3, 4, 5}, {70, 3},
        {300, 600}, {9, 1, 17}, {2, 16, 3, 16}, {1000, 5},  {3, 500, 2}};
    for (const auto& dims : shapes) {
      size_t total = 1;
      for (size_t d : dims) total *= d;
      const std::vector<float> x = random.floats(total, 0.9f, 1.1f);
      for (uint64_t axes = 0; axes < 1u << dims.size(); ++axes)
        for (ReduceOp op : kOps)
          if (op != ReduceOp::prod || total < 2000)
            check(op, dims, dense(dims), axes, x, 0, axes % 2 ? static_cast<Parallel&>(serial) : threads);
    }
  });
}

TEST_CASE("strides of any kind: permuted, negative, zero") {
  for_each_isa([](Isa) {
    Serial serial;
    testing::Random random(2);
    const std::vector<float> x = random.floats(4096, -1, 1);
    for (uint64_t axes = 0; axes < 8; ++axes)
      for (ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::l2}) {
        check(op, {6, 7, 8}, {1, 6, 42}, axes, x, 0, serial);
        check(op, {6, 7, 8}, {56, -8, 1}, axes, x, 48, serial);
        check(op, {6, 7, 8}, {56, 8, -1}, axes, x, 7, serial);
        check(op, {6, 7, 20}, {0, 20, 1}, axes, x, 0, serial);
      }
  });
}

TEST_CASE("sums and squares that leave the range of float on the way") {
  for_each_isa([](Isa) {
    Serial serial;
    for (float size : {1e30f, 2e38f, static_cast<float>(kInf)}) {
      std::vector<float> x(4 * 40, size);
      for (size_t k = 0; k < x.size(); k += 4) x[k] = 0.5f;
      for (ReduceOp op : {ReduceOp::l2, ReduceOp::log_sum, ReduceOp::mean})
        for (uint64_t axes : {1, 2, 3})
          if (op != ReduceOp::l2 || size != 2e38f) check(op, {4, 40}, {40, 1}, axes, x, 0, serial);
    }
    std::vector<float> tiny(40, 3e-30f);
    const bool all[] = {true};
    auto plan = ReducePlan::make(ReduceOp::l2, std::vector<size_t>{40}, std::vector<ptrdiff_t>{1}, all);
    REQUIRE(plan.ok());
    float y = 0;
    reduce_run(*plan, tiny.data(), &y, serial);
    CHECK(std::fabs(y / (3e-30 * std::sqrt(40.0)) - 1) < 1e-6);
  });
}

TEST_CASE("nothing, infinities and NaN") {
  for_each_isa([](Isa) {
    Serial serial;
    std::vector<float> x(64, 0.5f);
    for (ReduceOp op : kOps) {
      check(op, {3, 0}, {0, 1}, 2, x, 0, serial);
      check(op, {0, 3}, {3, 1}, 2, x, 0, serial);
      check(op, {0, 3}, {3, 1}, 1, x, 0, serial);
    }
    x[11] = NAN;
    for (ReduceOp op : {ReduceOp::max, ReduceOp::min, ReduceOp::sum})
      for (uint64_t axes : {1, 2, 3}) check(op, {4, 16}, {16, 1}, axes, x, 0, serial);
    std::vector<float> inf(40, -static_cast<float>(kInf));
    for (uint64_t axes : {1, 2, 3}) check(ReduceOp::log_sum_exp, {2, 20}, {20, 1}, axes, inf, 0, serial);
    inf[3] = static_cast<float>(kInf);
    for (uint64_t axes : {1, 2, 3}) check(ReduceOp::log_sum_exp, {2, 20}, {20, 1}, axes, inf, 0, serial);
  });
}

TEST_CASE("a long sum keeps its digits, and is the same on any number of threads") {
  for_each_isa([](Isa) {
    const size_t n = 3000017;
    testing::Random random(3);
    const std::vector<float> x = random.floats(n, 0, 1);
    double want = 0;
    for (float v : x) want += v;
    const std::vector<size_t> dims = {n};
    const std::vector<ptrdiff_t> strides = {1};
    const bool axes[] = {true};
    auto plan = ReducePlan::make(ReduceOp::sum, dims, strides, axes);
    float one, many;
    Serial serial;
    testing::Threads threads(5);
    reduce_run(*plan, x.data(), &one, serial);
    reduce_run(*plan, x.data(), &many, threads);
    CHECK(one == many);
    CHECK(std::fabs(one - want) / want < 1e-7);
  });
}

TEST_CASE("where the largest and the smallest are") {
  for_each_isa([](Isa) {
    Serial serial;
    testing::Random random(4);
    for (size_t n : {1, 2, 5, 16, 33, 100})
      for (size_t inner : {1, 3, 16, 40, 600})
        for (int variant = 0; variant < 8; ++variant) {
          const bool smallest = variant & 1, last = variant & 2, with_nan = variant & 4;
          const size_t outer = 3;
          std::vector<float> x(outer * n * inner);
          for (float& v : x) v = static_cast<float>(random.below(4)) - 2.0f;
          if (with_nan)
            for (size_t i = 0; i < x.size(); i += 13) x[i] = NAN;
          std::vector<int64_t> y(outer * inner);
          arg_extreme_run(smallest, last, outer, n, inner, x.data(), y.data(), serial);
          size_t bad = 0;
          for (size_t i = 0; i < outer * inner; ++i) {
            int64_t want = 0;
            float best = x[i / inner * n * inner + i % inner];
            for (size_t k = 1; k < n; ++k) {
              const float v = x[(i / inner * n + k) * inner + i % inner];
              if (std::isnan(best)) break;
              const bool more = smallest ? (last ? v <= best : v < best) : (last ? v >= best : v > best);
              if (more || std::isnan(v)) best = v, want = static_cast<int64_t>(k);
            }
            bad += y[i] != want;
          }
          CAPTURE(n);
          CAPTURE(inner);
          CAPTURE(variant);
          CHECK(bad == 0);
        }
  });
}

}  // namespace
