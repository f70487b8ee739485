// SPDX-License-Identifier: Apache-2.0
// Pooling of random geometries against plain loops in float64, plain and blocked, at every vector level.
#include "kernels/pool.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "kernel_testing.h"
#include "kernels/reorder.h"

using namespace sx;
using namespace sx::kernels;
using sx::testing::for_each_isa;

namespace {

std::vector<double> pool_f64(const PoolShape& s, const std::vector<float>& x) {
  std::vector<double> y;
  const size_t space = s.in[0] * s.in[1] * s.in[2];
  for (size_t plane = 0; plane < s.batch * s.channels; ++plane)
    for (size_t o = 0; o < s.out[0] * s.out[1] * s.out[2]; ++o) {
      const size_t out[3] = {o / s.out[2] / s.out[1], o / s.out[2] % s.out[1], o % s.out[2]};
      double top = -std::numeric_limits<double>::infinity(), sum = 0, count = 0, padded = 0;
      for (size_t k = 0; k < s.kernel[0] * s.kernel[1] * s.kernel[2]; ++k) {
        const size_t tap[3] = {k / s.kernel[2] / s.kernel[1], k / s.kernel[2] % s.kernel[1], k % s.kernel[2]};
        bool inside = true, in_pad = true;
        size_t at = 0;
        for (int d = 0; d < 3; ++d) {
          const long i = static_cast<long>(out[d] * s.stride[d] + tap[d] * s.dilation[d]) -
                         static_cast<long>(s.pad_begin[d]);
          inside = inside && i >= 0 && i < static_cast<long>(s.in[d]);
          in_pad = in_pad && i < static_cast<long>(s.in[d] + s.pad_end[d]);
          at = at * s.in[d] + static_cast<size_t>(i);
        }
        padded += in_pad;
        if (!inside) continue;
        const double v = x[plane * space + at];
        top = std::isnan(v) || v > top ? v : top;
        sum += v;
        ++count;
      }
      const double n = s.kind == PoolKind::average ? count : padded;
      y.push_back(s.kind == PoolKind::max ? top : sum / n);
    }
  return y;
}

size_t different(const std::vector<float>& got, const std::vector<double>& want) {
  size_t bad = 0;
  for (size_t i = 0; i < want.size(); ++i)
    bad += std::isfinite(want[i]) ? !(std::fabs(got[i] - want[i]) < 2e-6)
                                  : !(std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i]);
  return bad;
}

PoolShape random_shape(testing::Random& random) {
  PoolShape s;
  s.kind = static_cast<PoolKind>(random.below(3));
  s.batch = 1 + random.below(2);
  s.channels = 1 + random.below(40);
  const size_t dims = 1 + random.below(3);
  for (size_t d = 3 - dims; d < 3; ++d) {
    s.in[d] = 1 + random.below(d == 2 ? 60 : 9);
    s.kernel[d] = 1 + random.below(4);
    s.stride[d] = 1 + random.below(3);
    s.dilation[d] = 1 + random.below(2);
    const size_t reach = (s.kernel[d] - 1) * s.dilation[d] + 1;
    s.pad_begin[d] = random.below(reach);
    s.pad_end[d] = random.below(reach);
    const size_t room = s.in[d] + s.pad_begin[d] + s.pad_end[d];
    s.out[d] = room < reach ? 1 : (room - reach + random.below(2) * (s.stride[d] - 1)) / s.stride[d] + 1;
  }
  return s;
}

TEST_CASE("pooling of any geometry, plain and blocked") {
  for_each_isa([](Isa) {
    Serial serial;
    testing::Threads threads(3);
    testing::Random random(11);
    for (int round = 0; round < 300; ++round) {
      PoolShape s = random_shape(random);
      Parallel& parallel = round % 2 ? static_cast<Parallel&>(serial) : threads;
      const size_t in_space = s.in[0] * s.in[1] * s.in[2], out_space = s.out[0] * s.out[1] * s.out[2];
      std::vector<float> x = random.floats(s.batch * s.channels * in_space);
      if (round % 10 == 0) x[random.below(x.size())] = NAN;
      std::vector<float> y(s.batch * s.channels * out_space, 7.0f);
      const std::vector<double> want = pool_f64(s, x);
      pool_run(s, x.data(), y.data(), parallel);
      CAPTURE(round);
      CHECK(different(y, want) == 0);

      s.block = channel_block();
      std::vector<float> bx(blocked_size(s.batch, s.channels, in_space, s.block));
      std::vector<float> by(blocked_size(s.batch, s.channels, out_space, s.block), 7.0f);
      to_blocked(x.data(), bx.data(), s.batch, s.channels, in_space, s.block, serial);
      pool_run(s, bx.data(), by.data(), parallel);
      from_blocked(by.data(), y.data(), s.batch, s.channels, out_space, s.block, serial);
      CHECK(different(y, want) == 0);
      size_t spoiled = 0;
      const size_t blocks = (s.channels + s.block - 1) / s.block;
      for (size_t i = 0; i < by.size(); ++i) {
        const size_t channel = i / (out_space * s.block) % blocks * s.block + i % s.block;
        if (channel >= s.channels) spoiled += by[i] != 0.0f;
      }
      CHECK(spoiled == 0);
    }
  });
}

TEST_CASE("long lines and wide windows") {
  for_each_isa([](Isa) {
    Serial serial;
    testing::Random random(12);
    for (size_t kernel : {3, 700, 5000})
      for (size_t stride : {1, 2, 7}) {
        PoolShape s;
        s.kind = kernel == 3 ? PoolKind::max : PoolKind::average;
        s.in[2] = 9000, s.kernel[2] = kernel, s.stride[2] = stride, s.pad_begin[2] = 2, s.pad_end[2] = 1;
        s.out[2] = (s.in[2] + 3 - kernel) / stride + 1;
        const std::vector<float> x = random.floats(s.in[2]);
        std::vector<float> y(s.out[2]);
        pool_run(s, x.data(), y.data(), serial);
        CHECK(different(y, pool_f64(s, x)) == 0);
      }
  });
}

TEST_CASE("global pooling, plain and blocked") {
  for_each_isa([](Isa) {
    Serial serial;
    testing::Random random(13);
    const size_t batch = 2, channels = 20, space = 49, block = channel_block();
    const std::vector<float> x = random.floats(batch * channels * space);
    std::vector<float> bx(blocked_size(batch, channels, space, block)),
        by(blocked_size(batch, channels, 1, block));
    to_blocked(x.data(), bx.data(), batch, channels, space, block, serial);
    for (PoolKind kind : {PoolKind::average, PoolKind::max}) {
      std::vector<float> y(batch * channels), z(batch * channels);
      global_pool_run(kind, batch, channels, space, 1, x.data(), y.data(), serial);
      global_pool_run(kind, batch, channels, space, block, bx.data(), by.data(), serial);
      from_blocked(by.data(), z.data(), batch, channels, 1, block, serial);
      for (size_t c = 0; c < batch * channels; ++c) {
        double sum = 0, top = -9;
        for (size_t i = 0; i < space; ++i)
          sum += x[c * space + i], top = std::max<double>(top, x[c * space + i]);
        const double want = kind == PoolKind::max ? top : sum / space;
        CHECK(std::fabs(y[c] - want) < 1e-6);
        CHECK(std::fabs(z[c] - want) < 1e-6);
      }
    }
  });
}

}  // namespace
