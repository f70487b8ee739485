// SPDX-License-Identifier: Apache-2.0
// Softmax and the normalisations against float64, at every vector level, with threads and without.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "kernel_testing.h"
#include "kernels/norm.h"
#include "kernels/softmax.h"

using namespace sx;
using namespace sx::kernels;
using sx::testing::for_each_isa;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<double> softmax_f64(const std::vector<double>& x, bool log) {
  double top = -kInf, sum = 0;
  for (double v : x) top = std::max(top, v);
  for (double v : x) sum += std::exp(v - top);
  std::vector<double> y;
  for (double v : x) y.push_back(log ? v - top - std::log(sum) : std::exp(v - top) / sum);
  return y;
}

void check_softmax(size_t outer, size_t n, size_t inner, bool log, Parallel& parallel) {
  testing::Random random(outer * 31 + n * 7 + inner);
  const std::vector<float> x = random.floats(outer * n * inner, -20, 20);
  std::vector<float> y(x.size());
  Softmax s;
  s.outer = outer, s.n = n, s.inner = inner, s.log = log;
  s.x_stride = s.y_stride = static_cast<ptrdiff_t>(n * inner);
  softmax_run(s, x.data(), nullptr, y.data(), parallel);
  double worst = 0;
  for (size_t o = 0; o < outer; ++o)
    for (size_t c = 0; c < inner; ++c) {
      std::vector<double> row;
      for (size_t i = 0; i < n; ++i) row.push_back(x[(o * n + i) * inner + c]);
      const std::vector<double> want = softmax_f64(row, log);
      for (size_t i = 0; i < n; ++i)
        worst = std::max(worst, std::fabs(y[(o * n + i) * inner + c] - want[i]) / (log ? 40.0 : 1.0));
    }
  CAPTURE(n);
  CAPTURE(inner);
  CHECK(worst < 4e-7);
}

TEST_CASE("softmax of rows that are cut themselves") {
  for_each_isa([](Isa) {
    Serial serial;
    testing::Threads threads(3);
    check_softmax(2, (size_t(1) << 20) + 37, 1, false, serial);
    check_softmax(1, (size_t(1) << 20) + 37, 1, true, threads);
  });
}

TEST_CASE("softmax over rows and over any other axis") {
  for_each_isa([](Isa) {
    Serial serial;
    testing::Threads threads(3);
    for (bool log : {false, true})
      for (size_t n : {1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 100, 1000}) {
        check_softmax(5, n, 1, log, serial);
        check_softmax(300, n, 1, log, threads);
        for (size_t inner : {2, 5, 16, 19, 300})
          check_softmax(3, n, inner, log, n % 2 ? static_cast<Parallel&>(serial) : threads);
      }
    Softmax none;
    softmax_run(none, nullptr, nullptr, nullptr, serial);
  });
}

TEST_CASE("softmax takes a scale and a broadcast mask, -infinity included") {
  for_each_isa([](Isa) {
    const size_t heads = 3, queries = 4, n = 21;
    testing::Random random(4);
    const std::vector<float> x = random.floats(2 * heads * queries * n, -9, 9);
    std::vector<float> mask = random.floats(2 * queries * n, -3, 3), y(x.size());
    for (size_t i = 0; i < mask.size(); i += 3) mask[i] = -kInf;
    Softmax s;
    s.outer = 2 * heads * queries, s.n = n, s.x_stride = s.y_stride = n, s.scale = 0.125f;
    const size_t dims[] = {2, heads, queries};
    const ptrdiff_t strides[] = {queries * n, 0, n};
    std::copy(dims, dims + 3, s.mask_dims);
    std::copy(strides, strides + 3, s.mask_strides);
    Serial serial;
    softmax_run(s, x.data(), mask.data(), y.data(), serial);
    for (size_t r = 0; r < s.outer; ++r) {
      const size_t b = r / (heads * queries), q = r % queries;
      std::vector<double> row;
      for (size_t i = 0; i < n; ++i) row.push_back(0.125 * x[r * n + i] + mask[(b * queries + q) * n + i]);
      const std::vector<double> want = softmax_f64(row, false);
      for (size_t i = 0; i < n; ++i) CHECK(std::fabs(y[r * n + i] - want[i]) < 3e-7);
    }
  });
}

TEST_CASE("a NaN spoils its row and no other") {
  for_each_isa([](Isa) {
    std::vector<float> x(3 * 20, 1.0f);
    x[20 + 13] = NAN;
    Softmax s;
    s.outer = 3, s.n = 20, s.x_stride = s.y_stride = 20;
    Serial serial;
    softmax_run(s, x.data(), nullptr, x.data(), serial);
    for (size_t i = 0; i < 60; ++i) CHECK((i / 20 == 1 ? std::isnan(x[i]) : std::fabs(x[i] - 0.05f) < 1e-7f));
  });
}

TEST_CASE("layer norm and RMS norm, with residual, of any length and offset") {
  for_each_isa([](Isa) {
    testing::Threads threads(3);
    for (size_t n : {1, 3, 16, 17, 65, 384, 768, 5000})
      for (int variant = 0; variant < 8; ++variant) {
        const bool rms = variant & 1, residual = variant & 2, affine = variant & 4;
        const size_t rows = n < 100 ? 40 : 15;
        testing::Random random(n + variant);
        const std::vector<float> x = random.floats(rows * n, 99, 101), r = random.floats(rows * n);
        const std::vector<float> scale = random.floats(n), bias = random.floats(n);
        std::vector<float> y(rows * n), sum(rows * n), mean(rows), inv(rows);
        LayerNorm norm;
        norm.rows = rows, norm.n = n, norm.rms = rms;
        norm.x_stride = norm.y_stride = norm.residual_stride = static_cast<ptrdiff_t>(n);
        LayerNormData d;
        d.x = x.data(), d.y = y.data(), d.sum = sum.data(), d.mean = mean.data(), d.inv_std = inv.data();
        if (residual) d.residual = r.data();
        if (affine) d.scale = scale.data(), d.bias = bias.data();
        layer_norm_run(norm, d, threads);
        double worst = 0;
        size_t wrong_sums = 0;
        for (size_t k = 0; k < rows; ++k) {
          double m = 0, v = 0;
          std::vector<double> t(n);
          for (size_t i = 0; i < n; ++i) {
            t[i] = static_cast<double>(x[k * n + i] + (residual ? r[k * n + i] : 0.0f));
            wrong_sums += sum[k * n + i] != static_cast<float>(t[i]);
            m += t[i] / static_cast<double>(n);
          }
          if (rms) m = 0;
          for (double z : t) v += (z - m) * (z - m) / static_cast<double>(n);
          const double s = 1 / std::sqrt(v + 1e-5);
          CHECK(inv[k] == doctest::Approx(s).epsilon(1e-5));
          for (size_t i = 0; i < n; ++i) {
            const double want = (t[i] - m) * s * (affine ? scale[i] : 1.0f) + (affine ? bias[i] : 0.0f);
            worst = std::max(worst, std::fabs(y[k * n + i] - want));
          }
        }
        CAPTURE(n);
        CAPTURE(variant);
        CHECK(worst < 5e-6);
        CHECK(wrong_sums == 0);
      }
  });
}

TEST_CASE("layer norm of empty rows still says their moments") {
  for_each_isa([](Isa) {
    Serial serial;
    LayerNorm norm;
    norm.rows = 3;
    std::vector<float> mean(3, 1.0f), inv(3, 1.0f);
    LayerNormData d;
    d.mean = mean.data(), d.inv_std = inv.data();
    layer_norm_run(norm, d, serial);
    for (size_t k = 0; k < 3; ++k) CHECK((std::isnan(mean[k]) && std::isnan(inv[k])));
  });
}

TEST_CASE("group norm and the scale and shift of channels") {
  for_each_isa([](Isa) {
    Serial serial;
    const size_t batch = 2, channels = 6, inner = 37;
    testing::Random random(6);
    const std::vector<float> x = random.floats(batch * channels * inner), scale = random.floats(channels),
                             bias = random.floats(channels);
    std::vector<float> y(x.size());
    for (size_t groups : {1, 3, 6}) {
      group_norm_run(batch, channels, inner, groups, 1e-5f, x.data(), scale.data(), bias.data(), y.data(),
                     serial);
      const size_t in_group = channels / groups, n = in_group * inner;
      for (size_t r = 0; r < batch * groups; ++r) {
        double m = 0, v = 0;
        for (size_t i = 0; i < n; ++i) m += x[r * n + i] / static_cast<double>(n);
        for (size_t i = 0; i < n; ++i) v += std::pow(x[r * n + i] - m, 2) / static_cast<double>(n);
        for (size_t i = 0; i < n; ++i) {
          const size_t c = r % groups * in_group + i / inner;
          CHECK(std::fabs(y[r * n + i] - ((x[r * n + i] - m) / std::sqrt(v + 1e-5) * scale[c] + bias[c])) <
                2e-6);
        }
      }
    }
    for (size_t size : {size_t{1}, inner}) {
      channel_affine_run(batch, channels, size, x.data(), scale.data(), bias.data(), y.data(), serial);
      for (size_t i = 0; i < batch * channels * size; ++i) {
        const size_t c = i / size % channels;
        CHECK(std::fabs(y[i] - (static_cast<double>(x[i]) * scale[c] + bias[c])) < 2e-7);
      }
    }
  });
}

}  // namespace
