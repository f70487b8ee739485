// SPDX-License-Identifier: Apache-2.0
// Attention against its definition in float64: strides, masks, shared heads, causality, at every vector
// level.
#include "kernels/attention.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>

#include "kernel_testing.h"

using namespace sx;
using namespace sx::kernels;
using sx::testing::for_each_isa;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// heads_first: [batch][head][row][size]; else [batch][row][head][size].
AttentionStrides strides(bool heads_first, size_t heads, size_t rows, size_t size) {
  const ptrdiff_t h = static_cast<ptrdiff_t>(heads), r = static_cast<ptrdiff_t>(rows),
                  s = static_cast<ptrdiff_t>(size);
  return heads_first ? AttentionStrides{h * r * s, r * s, s} : AttentionStrides{r * h * s, s, h * s};
}

struct Data {
  std::vector<float> q, k, v, mask, out;
  std::vector<uint8_t> allow;
  const void* mask_pointer(const AttentionShape& s) const {
    return s.mask == AttentionMask::none      ? nullptr
           : s.mask == AttentionMask::boolean ? static_cast<const void*>(allow.data())
                                              : mask.data();
  }
};

Data make(const AttentionShape& s, uint64_t seed) {
  testing::Random random(seed);
  Data d;
  d.q = random.floats(s.batch * s.heads * s.queries * s.head_size, -2, 2);
  d.k = random.floats(s.batch * s.kv_heads * s.keys * s.head_size, -2, 2);
  d.v = random.floats(s.batch * s.kv_heads * s.keys * s.value_size);
  d.out.assign(s.batch * s.heads * s.queries * s.value_size, 9.0f);
  d.mask = random.floats(s.batch * s.heads * s.queries * s.keys, -3, 3);
  for (size_t i = 0; i < d.mask.size(); i += 5) d.mask[i] = -std::numeric_limits<float>::infinity();
  d.allow.resize(d.mask.size());
  for (uint8_t& a : d.allow) a = random.below(3) != 0;
  return d;
}

double worst_error(const AttentionShape& s, const Data& d) {
  double worst = 0;
  const auto at = [](const AttentionStrides& t, size_t b, size_t h, size_t r) {
    return static_cast<size_t>(static_cast<ptrdiff_t>(b) * t.batch + static_cast<ptrdiff_t>(h) * t.head +
                               static_cast<ptrdiff_t>(r) * t.row);
  };
  for (size_t b = 0; b < s.batch; ++b)
    for (size_t h = 0; h < s.heads; ++h)
      for (size_t i = 0; i < s.queries; ++i) {
        const size_t kv = h / (s.heads / s.kv_heads);
        std::vector<double> score(s.keys);
        double top = -kInf, sum = 0;
        for (size_t j = 0; j < s.keys; ++j) {
          for (size_t c = 0; c < s.head_size; ++c)
            score[j] += static_cast<double>(d.q[at(s.q, b, h, i) + c]) * d.k[at(s.k, b, kv, j) + c];
          score[j] *= s.scale;
          if (s.softcap != 0) score[j] = s.softcap * std::tanh(score[j] / s.softcap);
          const size_t m = static_cast<size_t>(
              static_cast<ptrdiff_t>(b) * s.mask_strides[0] + static_cast<ptrdiff_t>(h) * s.mask_strides[1] +
              static_cast<ptrdiff_t>(i) * s.mask_strides[2] + static_cast<ptrdiff_t>(j) * s.mask_strides[3]);
          if (s.mask == AttentionMask::additive) score[j] += d.mask[m];
          if (s.mask == AttentionMask::boolean && !d.allow[m]) score[j] = -kInf;
          if (s.causal && static_cast<ptrdiff_t>(j) > static_cast<ptrdiff_t>(i) + s.causal_offset)
            score[j] = -kInf;
          top = std::max(top, score[j]);
        }
        for (double& x : score) sum += x = std::exp(x - top);
        for (size_t c = 0; c < s.value_size; ++c) {
          double want = 0;
          for (size_t j = 0; j < s.keys; ++j) want += score[j] / sum * d.v[at(s.v, b, kv, j) + c];
          if (top == -kInf) want = s.blind_rows_are_zero ? 0 : std::nan("");
          const float got = d.out[at(s.out, b, h, i) + c];
          worst = std::max(worst, std::isnan(want)  ? (std::isnan(got) ? 0 : kInf)
                                  : std::isnan(got) ? kInf
                                                    : std::fabs(got - want));
        }
      }
  return worst;
}

void run(const AttentionShape& s, Data& d, Parallel& parallel) {
  const AttentionPlan plan(s);
  const size_t bytes = (plan.scratch_floats(parallel.width()) * sizeof(float) + 127) / 64 * 64;
  std::unique_ptr<float, decltype(&std::free)> scratch(static_cast<float*>(std::aligned_alloc(64, bytes)),
                                                       &std::free);
  attention_run(plan, d.q.data(), d.k.data(), d.v.data(), d.mask_pointer(s), d.out.data(), scratch.get(),
                parallel);
}

AttentionShape shape(size_t batch, size_t heads, size_t kv, size_t queries, size_t keys, size_t size,
                     size_t values, bool heads_first) {
  AttentionShape s;
  s.batch = batch, s.heads = heads, s.kv_heads = kv, s.queries = queries, s.keys = keys;
  s.head_size = size, s.value_size = values;
  s.scale = 1.0f / std::sqrt(static_cast<float>(size));
  s.q = strides(heads_first, heads, queries, size), s.k = strides(heads_first, kv, keys, size);
  s.v = strides(heads_first, kv, keys, values), s.out = strides(heads_first, heads, queries, values);
  return s;
}

TEST_CASE("shapes, masks and strides") {
  for_each_isa([](Isa) {
    Serial serial;
    testing::Threads threads(3);
    testing::Random random(51);
    for (uint64_t round = 0; round < 120; ++round) {
      const size_t kv = 1 + random.below(2), heads = kv * (1 + random.below(3));
      const size_t queries = 1 + random.below(round % 3 ? 9 : 150),
                   keys = 1 + random.below(round % 4 ? 40 : 200);
      AttentionShape s = shape(1 + random.below(2), heads, kv, queries, keys, 1 + random.below(70),
                               1 + random.below(70), random.below(2));
      s.mask = static_cast<AttentionMask>(random.below(3));
      const ptrdiff_t full[] = {static_cast<ptrdiff_t>(heads * queries * keys),
                                static_cast<ptrdiff_t>(queries * keys), static_cast<ptrdiff_t>(keys), 1};
      for (int i = 0; i < 4; ++i) s.mask_strides[i] = random.below(3) ? full[i] : 0;
      s.causal = random.below(3) == 0;
      s.causal_offset = static_cast<ptrdiff_t>(random.below(8)) - 2;
      s.softcap = random.below(4) == 0 ? 2.0f : 0.0f;
      s.blind_rows_are_zero = random.below(2);
      Data d = make(s, round);
      run(s, d, round % 2 ? static_cast<Parallel&>(serial) : threads);
      CAPTURE(round);
      CHECK(worst_error(s, d) < 3e-6);
    }
  });
}

TEST_CASE("many keys come in blocks, and the softmax goes on from one to the next") {
  for_each_isa([](Isa) {
    testing::Threads threads(2);
    for (int variant = 0; variant < 12; ++variant) {
      AttentionShape s = shape(1, 1, 1, variant % 2 ? 100 : 37, 1700, 16, 24, true);
      s.mask = static_cast<AttentionMask>(variant % 3);
      s.mask_strides[2] = 1700, s.mask_strides[3] = 1;
      s.causal = variant >= 6;
      s.causal_offset = 1650;
      s.blind_rows_are_zero = true;
      Data d = make(s, 60 + static_cast<uint64_t>(variant));
      // The first keys are forbidden to some queries, all keys to one.
      for (size_t i = 0; i < 1700 * 20; ++i)
        if (i % 1700 < 600 || i / 1700 == 3)
          d.mask[i] = -std::numeric_limits<float>::infinity(), d.allow[i] = 0;
      run(s, d, threads);
      CAPTURE(variant);
      CHECK(worst_error(s, d) < 3e-6);
    }
  });
}

TEST_CASE("many queries are cut into groups, with the same bits on any number of threads") {
  for_each_isa([](Isa) {
    AttentionShape s = shape(1, 2, 1, 900, 333, 64, 64, false);
    Data one = make(s, 7), many = one;
    Serial serial;
    testing::Threads threads(4);
    run(s, one, serial);
    run(s, many, threads);
    CHECK(one.out == many.out);
    CHECK(worst_error(s, one) < 3e-6);
  });
}

}  // namespace
