// SPDX-License-Identifier: Apache-2.0
// The vector parts of Winograd convolution: weights, input squares and output squares to and from the points
// where they are multiplied. A vector holds one point of kLanes channels.
#include "kernels/conv_args.h"
#include "kernels/vec.h"

namespace sx::SX_ISA {

using kernels::ConvGeometry;
using kernels::kWinogradSquare;
using kernels::WinogradInput;
using kernels::WinogradOutput;
using kernels::WinogradTable;

constexpr int kSquare = (int)kWinogradSquare;
constexpr int kPoints = kSquare + 2;

// Four input values of a line to four points.
SX_INLINE void input_points(Vec& a, Vec& b, Vec& c, Vec& d) {
  const Vec b0 = b, c0 = c;
  a = a - c0;
  b = b0 + c0;
  c = c0 - b0;
  d = b0 - d;
}

// Three weights of a line to four points.
SX_INLINE void weight_points(const Vec (&g)[3], Vec (&to)[kPoints]) {
  const Vec outer = g[0] + g[2];
  to[0] = g[0];
  to[1] = (outer + g[1]) * 0.5f;
  to[2] = (outer - g[1]) * 0.5f;
  to[3] = g[2];
}

// [9][channels][width] to [16][channels][width], points `point` floats apart.
static void weights(const float* taps, size_t channels, size_t width, float* to, size_t point) {
  const size_t n = channels * width;
  for (size_t at = 0; at < n; at += kLanes) {
    Vec half[3][kPoints];
    SX_UNROLL
    for (int x = 0; x < 3; ++x) {
      Vec column[3];
      SX_UNROLL
      for (int y = 0; y < 3; ++y) column[y] = load(taps + (size_t)(3 * y + x) * n + at);
      weight_points(column, half[x]);
    }
    SX_UNROLL
    for (int y = 0; y < kPoints; ++y) {
      const Vec line[3] = {half[0][y], half[1][y], half[2][y]};
      Vec points[kPoints];
      weight_points(line, points);
      SX_UNROLL
      for (int x = 0; x < kPoints; ++x) store(to + (size_t)(kPoints * y + x) * point + at, points[x]);
    }
  }
}

// The square of inputs at (y, x), zeros outside the picture; negative coordinates are past the end.
SX_INLINE void load_square(const ConvGeometry& g, const float* plane, size_t y, size_t x,
                           Vec (&d)[kPoints][kPoints]) {
  if (y < g.in_h && x < g.in_w && y + kPoints <= g.in_h && x + kPoints <= g.in_w) {
    SX_UNROLL
    for (size_t i = 0; i < kPoints; ++i) {
      SX_UNROLL
      for (size_t j = 0; j < kPoints; ++j) d[i][j] = load(plane + ((y + i) * g.in_w + x + j) * kLanes);
    }
    return;
  }
  SX_UNROLL
  for (size_t i = 0; i < kPoints; ++i) {
    SX_UNROLL
    for (size_t j = 0; j < kPoints; ++j)
      d[i][j] = y + i < g.in_h && x + j < g.in_w ? load(plane + ((y + i) * g.in_w + x + j) * kLanes) : zero();
  }
}

static void input(const WinogradInput* args) {
  const WinogradInput& a = *args;
  const ConvGeometry& g = a.g;
  const size_t blocks = (a.channels + kLanes - 1) / kLanes, plane = g.in_h * g.in_w * kLanes;
  size_t ty = a.first / a.squares_w, tx = a.first % a.squares_w;
  for (size_t t = 0; t < a.squares; ++t) {
    const size_t y = ty * kSquare - g.pad_top, x = tx * kSquare - g.pad_left;
    float* to = a.to + t * a.row;
    for (size_t b = 0; b < blocks; ++b, to += kLanes) {
      Vec d[kPoints][kPoints];
      load_square(g, a.input + b * plane, y, x, d);
      SX_UNROLL
      for (int j = 0; j < kPoints; ++j) input_points(d[0][j], d[1][j], d[2][j], d[3][j]);
      SX_UNROLL
      for (int i = 0; i < kPoints; ++i) {
        input_points(d[i][0], d[i][1], d[i][2], d[i][3]);
        SX_UNROLL
        for (int j = 0; j < kPoints; ++j) store(to + (size_t)(kPoints * i + j) * a.point, d[i][j]);
      }
    }
    if (++tx == a.squares_w) tx = 0, ++ty;
  }
}

// One vector of channels of one square: 16 points to 2 x 2 results.
SX_INLINE void results_of(const float* from, size_t point, Vec (&out)[kSquare][kSquare]) {
  Vec half[kSquare][kPoints];
  SX_UNROLL
  for (int j = 0; j < kPoints; ++j) {
    Vec m[kPoints];
    SX_UNROLL
    for (int i = 0; i < kPoints; ++i) m[i] = load(from + (size_t)(kPoints * i + j) * point);
    half[0][j] = m[0] + (m[1] + m[2]);
    half[1][j] = (m[1] - m[2]) - m[3];
  }
  SX_UNROLL
  for (int i = 0; i < kSquare; ++i) {
    out[i][0] = half[i][0] + (half[i][1] + half[i][2]);
    out[i][1] = (half[i][1] - half[i][2]) - half[i][3];
  }
}

static void output(const WinogradOutput* args) {
  const WinogradOutput& a = *args;
  for (size_t channel = 0; channel < a.channels; channel += kLanes) {
    const size_t n = a.channels - channel < kLanes ? a.channels - channel : kLanes;
    const Mask exists = first_lanes(n);
    const Vec bias = a.bias ? set1(a.bias_scale) * load_masked(a.bias + channel, exists) : zero();
    const size_t plane = channel * a.out_h * a.out_w;
    size_t ty = a.first / a.squares_w, tx = a.first % a.squares_w;
    for (size_t t = 0; t < a.squares; ++t) {
      Vec out[kSquare][kSquare];
      results_of(a.from + t * a.row + channel, a.point, out);
      SX_UNROLL
      for (size_t i = 0; i < kSquare; ++i) {
        SX_UNROLL
        for (size_t j = 0; j < kSquare; ++j) {
          const size_t y = ty * kSquare + i, x = tx * kSquare + j;
          if (y >= a.out_h || x >= a.out_w) continue;
          const size_t at = plane + (y * a.out_w + x) * kLanes;
          Vec v = out[i][j] * a.alpha;
          if (a.residual) v = fma(set1(a.beta), load(a.residual + at), v);
          v += bias;
          if (a.clip) v = min(set1(a.high), max(set1(a.low), v));
          store(a.output + at, n < kLanes ? select(exists, v, zero()) : v);
        }
      }
      if (++tx == a.squares_w) tx = 0, ++ty;
    }
  }
}

extern const WinogradTable kWinograd;
const WinogradTable kWinograd = {weights, input, output};

}  // namespace sx::SX_ISA
