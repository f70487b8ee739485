// SPDX-License-Identifier: Apache-2.0
// The vector vocabulary at every level against the C library, corner values included.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernel_testing.h"
#include "kernels/dispatch.h"

SX_LEVELS(void vec_probe(int op, const float* x, const float* y, float* out, size_t n);
          size_t vec_probe_part(const float* x, size_t part, float* out, float* add_max_min);
          void vec_probe_int(const float* x, int32_t* rounded, int32_t* truncated, float* backwards))

using namespace sx;

namespace {

float expected(int op, float a, float b) {
  switch (op) {
    case 0: return std::floor(a);
    case 1: return std::ceil(a);
    case 2: return std::nearbyint(a);
    case 3: return a < b ? a : b;
    case 4: return a > b ? a : b;
    case 5: return a < b ? a : b;
    case 6: return a <= b ? 0.0f : 1.0f;
    case 7: return std::isnan(a) || a == b ? 1.0f : 0.0f;
    case 8: return std::fabs(a);
    case 9: return std::copysign(a, b);
    case 10: return std::sqrt(a);
    default: return 0;
  }
}

bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

}  // namespace

TEST_CASE("lane by lane") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> values = {0.0f,        -0.0f, 0.5f,  -0.5f,  1.5f, 2.5f,       -1.5f,
                               -2.5f,       0.49f, -0.7f, 1e-40f, 3.0f, 8388607.5f, 8388609.0f,
                               -8388607.5f, 3e9f,  -3e9f, 1e30f,  kInf, -kInf,      std::nanf("")};
  std::vector<float> x, y;
  for (float a : values)
    for (float b : values) x.push_back(a), y.push_back(b);
  while (x.size() % 16) x.push_back(1), y.push_back(2);
  std::vector<float> out(x.size());
  testing::for_each_isa([&](Isa isa) {
    CAPTURE(isa_name(isa));
    for (int op = 0; op <= 10; ++op) {
      CAPTURE(op);
      SX_PICK(vec_probe)(op, x.data(), y.data(), out.data(), x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        CAPTURE(x[i]);
        CAPTURE(y[i]);
        CAPTURE(out[i]);
        REQUIRE(same(out[i], expected(op, x[i], y[i])));
      }
    }
    SX_PICK(vec_probe)(11, x.data(), y.data(), out.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i)
      if (std::fabs(x[i]) < 4 && std::fabs(y[i]) < 4)
        REQUIRE(std::fabs(out[i] - (double(x[i]) * y[i] + 0.5)) < 2e-6);
  });
}

TEST_CASE("parts of a vector touch nothing beyond, at any address") {
  testing::for_each_isa([&](Isa) {
    std::vector<char> bytes(17 * 4 + 1);
    const float source[16] = {5, 2, 8, 1, 9, 3, 7, 4, 6, 12, 11, 10, 15, 14, 13, 16};
    std::memcpy(bytes.data() + 1, source, sizeof source);
    float marks[16], sums[3];
    const size_t lanes = SX_PICK(vec_probe_part)(source, 1, marks, sums);
    for (size_t n = 0; n <= lanes; ++n) {
      float out[17], sum = 0, top = n < lanes ? 0.0f : source[0], low = top;
      std::fill(out, out + 17, -1.0f);
      SX_PICK(vec_probe_part)(reinterpret_cast<const float*>(bytes.data() + 1), n, out, sums);
      for (size_t i = 0; i < 17; ++i) REQUIRE(out[i] == (i < n ? source[i] : -1.0f));
      for (size_t i = 0; i < n; ++i)
        sum += source[i], top = std::max(top, source[i]), low = std::min(low, source[i]);
      CHECK(sums[0] == sum);
      CHECK(sums[1] == top);
      CHECK(sums[2] == low);
    }
  });
}

TEST_CASE("integers and gathers") {
  const float x[16] = {0.5f, 1.5f, -0.5f, -1.5f, 2.4f, 2.6f,  -2.4f, -2.6f,
                       7,    8,    9,     10,    1e9f, -1e9f, 0,     -0.0f};
  testing::for_each_isa([&](Isa) {
    int32_t rounded[16], truncated[16];
    float backwards[16], marks[16], sums[3];
    const size_t lanes = SX_PICK(vec_probe_part)(x, 1, marks, sums);
    SX_PICK(vec_probe_int)(x, rounded, truncated, backwards);
    for (size_t i = 0; i < lanes; ++i) {
      CHECK(rounded[i] == static_cast<int32_t>(std::nearbyint(x[i])));
      CHECK(truncated[i] == static_cast<int32_t>(x[i]));
      CHECK(backwards[i] == x[lanes - 1 - i]);
    }
  });
}
