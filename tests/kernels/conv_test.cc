// SPDX-License-Identifier: Apache-2.0
// Convolutions of every kind at every vector level against sums in float64.
#include "kernels/conv.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "kernel_testing.h"
#include "kernels/reorder.h"

using namespace sx;
using namespace sx::kernels;

namespace {

struct Case {
  ConvShape s;
  ConvKind kind;
  Epilogue e;
  bool bias = true, residual = false, in_place = false;
};

struct Data {
  std::vector<float> input, weights, bias, residual;
};

Data make_data(const Case& t) {
  testing::Random random(t.s.in_channels * 131 + t.s.out_channels * 17 + t.s.in_w);
  Data d;
  d.input = random.floats(t.s.batch * t.s.in_channels * t.s.in_h * t.s.in_w);
  d.weights = random.floats(t.s.out_channels * (t.s.in_channels / t.s.groups) * t.s.kernel_h * t.s.kernel_w);
  d.bias = random.floats(t.s.out_channels);
  d.residual = random.floats(t.s.batch * t.s.out_channels * t.s.out_h() * t.s.out_w());
  return d;
}

// Plain NCHW in and out; checks on the way that padded lanes of a blocked output are zero.
std::vector<float> run(const Case& t, const Data& d, Parallel& parallel) {
  const ConvPlan plan(t.s, t.kind);
  const size_t block = plan.block(), space_in = t.s.in_h * t.s.in_w, space_out = t.s.out_h() * t.s.out_w();
  const bool blocked_in = t.kind != ConvKind::from_plain && t.kind != ConvKind::plain;
  const bool blocked_out = t.kind != ConvKind::plain;
  const auto shaped = [&](const std::vector<float>& plain, size_t channels, size_t space, bool blocked) {
    if (!blocked) return plain;
    std::vector<float> to(blocked_size(t.s.batch, channels, space, block));
    to_blocked(plain.data(), to.data(), t.s.batch, channels, space, block, parallel);
    return to;
  };
  const auto input = shaped(d.input, t.s.in_channels, space_in, blocked_in);
  const auto residual = shaped(d.residual, t.s.out_channels, space_out, blocked_out);
  std::vector<float> output(residual.size(), 77.0f), packed(plan.packed_floats());
  std::vector<float> scratch(plan.scratch_floats(parallel.width()));
  if (t.in_place) output = residual;
  std::vector<char> bytes(d.weights.size() * 4 + 3);  // weights in a file begin anywhere
  std::memcpy(bytes.data() + 3, d.weights.data(), d.weights.size() * 4);
  pack_conv(plan, bytes.data() + 3, packed.data(), parallel);
  Epilogue e = t.e;
  if (t.bias) e.bias = d.bias.data();
  if (t.residual) e.residual = t.in_place ? output.data() : residual.data();
  run_conv(plan, input.data(), packed.data(), output.data(), e, scratch.data(), parallel);
  if (!blocked_out) return output;
  std::vector<float> plain(d.residual.size());
  from_blocked(output.data(), plain.data(), t.s.batch, t.s.out_channels, space_out, block, parallel);
  std::vector<float> again(output.size());
  to_blocked(plain.data(), again.data(), t.s.batch, t.s.out_channels, space_out, block, parallel);
  CHECK(again == output);
  return plain;
}

double activated(const Epilogue& e, double x) {
  switch (e.activation) {
    case Activation::relu: return std::fmax(0.0, x);
    case Activation::clip: return std::fmin(e.high, std::fmax(e.low, x));
    case Activation::sigmoid: return 1 / (1 + std::exp(-x));
    case Activation::silu: return x / (1 + std::exp(-x));
    default: return x;
  }
}

// The largest error, in units of 2^-24 times the sum of magnitudes.
double error_of(const Case& t, const Data& d, const std::vector<float>& out) {
  const ConvShape& s = t.s;
  const size_t oh = s.out_h(), ow = s.out_w(), icg = s.in_channels / s.groups,
               ocg = s.out_channels / s.groups;
  double worst = 0;
  for (size_t at = 0; at < out.size(); ++at) {
    const size_t x = at % ow, y = at / ow % oh, oc = at / ow / oh % s.out_channels,
                 n = at / ow / oh / s.out_channels;
    double sum = 0, size = 1;
    for (size_t c = 0; c < icg; ++c)
      for (size_t kh = 0; kh < s.kernel_h; ++kh)
        for (size_t kw = 0; kw < s.kernel_w; ++kw) {
          const size_t iy = y * s.stride_h + kh * s.dilation_h - s.pad_top;
          const size_t ix = x * s.stride_w + kw * s.dilation_w - s.pad_left;
          if (iy >= s.in_h || ix >= s.in_w) continue;
          const double v =
              double(d.input[((n * s.in_channels + oc / ocg * icg + c) * s.in_h + iy) * s.in_w + ix]) *
              double(d.weights[((oc * icg + c) * s.kernel_h + kh) * s.kernel_w + kw]);
          sum += v, size += std::fabs(v);
        }
    sum *= t.e.alpha;
    if (t.residual) sum += double(t.e.beta) * d.residual[at];
    if (t.bias) sum += double(t.e.bias_scale) * d.bias[oc];
    const double error = std::fabs(activated(t.e, sum) - out[at]);
    if (!(error < 1e9)) return 1e30;
    worst = std::max(worst, error / size * 16777216.0);
  }
  return worst;
}

void check(const Case& t) {
  testing::for_each_isa([&](Isa isa) {
    CAPTURE(isa_name(isa));
    CAPTURE(conv_kind_name(t.kind));
    CAPTURE(t.s.in_channels);
    CAPTURE(t.s.out_channels);
    CAPTURE(t.s.groups);
    CAPTURE(t.s.in_h);
    CAPTURE(t.s.in_w);
    CAPTURE(t.s.kernel_h);
    CAPTURE(t.s.kernel_w);
    REQUIRE(conv_refuses(t.s, t.kind).empty());
    const Data d = make_data(t);
    Serial serial;
    const auto one = run(t, d, serial);
    CHECK(error_of(t, d, one) < (t.kind == ConvKind::winograd ? 8 : 48));
    for (size_t width : {2u, 8u}) {
      testing::Threads threads(width);
      CHECK(run(t, d, threads) == one);
    }
  });
}

ConvShape square(size_t in, size_t out, size_t size, size_t kernel, size_t stride, size_t pad) {
  ConvShape s;
  s.in_channels = in, s.out_channels = out, s.in_h = s.in_w = size, s.kernel_h = s.kernel_w = kernel;
  s.stride_h = s.stride_w = stride;
  s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = pad;
  return s;
}

}  // namespace

TEST_CASE("blocked: kernels, strides, padding, channel tails") {
  for (size_t in : {3u, 16u, 20u, 32u})
    for (size_t out : {5u, 16u, 20u, 48u})
      for (size_t kernel : {1u, 3u})
        for (size_t stride : {1u, 2u})
          check({square(in, out, 9, kernel, stride, kernel / 2), ConvKind::blocked, {}});
}

TEST_CASE("blocked: wide lines, so that inner tiles read the input in place") {
  for (size_t stride : {1u, 2u}) {
    ConvShape s = square(32, 40, 6, 3, stride, 1);
    s.in_w = 75;
    check({s, ConvKind::blocked, {}});
    s.dilation_w = 2, s.dilation_h = 2, s.pad_left = 3, s.in_h = 9;
    check({s, ConvKind::blocked, {}});
  }
}

TEST_CASE("blocked: many chunks, long sums, batch") {
  ConvShape s = square(256, 64, 12, 3, 1, 1);
  check({s, ConvKind::blocked, {.activation = Activation::relu}, true, true});
  s = square(64, 300, 20, 1, 1, 0);
  s.batch = 3;
  check({s, ConvKind::blocked, {}});
}

// Chains of 2,048 additions of positive values are off by 15 units and more.
TEST_CASE("long sums are added in pieces") {
  for (ConvKind kind : {ConvKind::blocked, ConvKind::from_plain, ConvKind::plain})
    for (size_t kernel : {1u, 3u}) {
      const Case t = {square(kernel == 1 ? 2050 : 512, 32, 7, kernel, 1, kernel / 2), kind, {}};
      Data d = make_data(t);
      for (float& x : d.input) x = 1 + x / 2;
      for (float& x : d.weights) x = 1 + x / 2;
      testing::for_each_isa([&](Isa isa) {
        CAPTURE(isa_name(isa));
        CAPTURE(conv_kind_name(kind));
        CAPTURE(kernel);
        Serial serial;
        CHECK(error_of(t, d, run(t, d, serial)) < 10);
      });
    }
}

TEST_CASE("blocked: groups of whole blocks") {
  ConvShape s = square(64, 96, 8, 3, 1, 1);
  s.groups = 2;
  check({s, ConvKind::blocked, {.activation = Activation::silu}});
}

TEST_CASE("winograd: channel tails, odd sizes, padding") {
  for (size_t in : {3u, 16u, 20u, 100u})
    for (size_t out : {5u, 16u, 20u, 48u})
      for (size_t size : {3u, 4u, 9u})
        check({square(in, out, size, 3, 1, 1),
               ConvKind::winograd,
               {.activation = Activation::relu},
               true,
               true});
  ConvShape s = square(20, 24, 7, 3, 1, 0);
  s.in_w = 30, s.pad_left = 2, s.pad_bottom = 3, s.batch = 2;
  check({s, ConvKind::winograd, {}});
}

TEST_CASE("winograd: many chunks, groups, activations") {
  ConvShape s = square(64, 80, 57, 3, 1, 1);
  check({s, ConvKind::winograd, {.activation = Activation::relu}, true, true, true});
  s = square(256, 300, 14, 3, 1, 1);
  check({s, ConvKind::winograd, {.activation = Activation::silu}});
  s = square(64, 96, 8, 3, 1, 1);
  s.groups = 2, s.batch = 3;
  check({s, ConvKind::winograd, {.activation = Activation::sigmoid}, true, true, true});
  check({square(20, 20, 7, 3, 1, 1), ConvKind::winograd, {.activation = Activation::sigmoid}});
  check({square(20, 20, 7, 3, 1, 1),
         ConvKind::winograd,
         {.activation = Activation::clip, .low = 0.5f, .high = 0.9f}});
  check({square(260, 20, 6, 3, 1, 1),
         ConvKind::winograd,
         {.alpha = 0.5f, .bias_scale = -2.0f, .beta = 3.0f},
         true,
         true});
}

TEST_CASE("from_plain: first layers") {
  check({square(3, 20, 40, 7, 2, 3), ConvKind::from_plain, {.activation = Activation::relu}});
  check({square(1, 8, 28, 5, 1, 2), ConvKind::from_plain, {}});
  check({square(3, 33, 21, 3, 2, 1), ConvKind::from_plain, {.activation = Activation::silu}});
  ConvShape s = square(2, 16, 30, 3, 1, 2);
  s.dilation_w = s.dilation_h = 2;
  check({s, ConvKind::from_plain, {}});
  s = square(4, 16, 70, 20, 3, 0);
  s.batch = 2;
  check({s, ConvKind::from_plain, {}});
}

TEST_CASE("from_plain: wide lines are copied with their padding") {
  for (size_t in : {1u, 3u, 17u})
    for (size_t stride : {1u, 2u, 3u}) {
      ConvShape s = square(in, 40, 12, 5, stride, 2);
      s.in_w = 90, s.pad_right = 4, s.batch = 2;
      check({s, ConvKind::from_plain, {.activation = Activation::relu}, true, true});
      s.dilation_h = 3, s.pad_left = 0, s.pad_top = 7;
      check({s, ConvKind::from_plain, {}});
    }
  ConvShape s = square(2, 16, 3, 3, 1, 0);
  s.in_w = 1, s.pad_left = 40, s.pad_right = 30, s.pad_bottom = 9;
  check({s, ConvKind::from_plain, {}});
  s = square(3, 8, 90, 3, 1, 0);
  s.in_h = 1, s.pad_left = 1;
  CHECK(ConvPlan(s, ConvKind::from_plain).scratch_floats(1) < 1000000);
}

TEST_CASE("depthwise") {
  for (size_t channels : {5u, 16u, 40u})
    for (size_t kernel : {3u, 5u})
      for (size_t stride : {1u, 2u}) {
        ConvShape s = square(channels, channels, 23, kernel, stride, kernel / 2);
        s.groups = channels;
        check({s,
               ConvKind::depthwise,
               {.activation = Activation::clip, .low = 0.1f, .high = 0.6f},
               true,
               true});
        s.in_h = 1, s.kernel_h = 1, s.pad_top = s.pad_bottom = 0, s.batch = 2;
        check({s, ConvKind::depthwise, {.activation = Activation::sigmoid}});
      }
  ConvShape tiny = square(8, 8, 2, 7, 1, 3);
  tiny.groups = 8;
  check({tiny, ConvKind::depthwise, {}});
}

TEST_CASE("plain: any groups") {
  for (size_t groups : {1u, 2u, 6u})
    for (size_t stride : {1u, 2u}) {
      ConvShape s = square(12, 18, 11, 3, stride, 1);
      s.groups = groups, s.batch = 2;
      check({s, ConvKind::plain, {.activation = Activation::silu}, true, true});
    }
  check({square(300, 20, 9, 3, 1, 1), ConvKind::plain, {}});
  ConvShape s = square(4, 8, 9, 3, 1, 0);
  s.pad_left = 4, s.pad_bottom = 2, s.dilation_w = 3;
  check({s, ConvKind::plain, {}});
}

TEST_CASE("one dimension") {
  for (ConvKind kind : {ConvKind::blocked, ConvKind::from_plain, ConvKind::plain}) {
    ConvShape s;
    s.in_channels = 20, s.out_channels = 24, s.in_w = 4, s.kernel_w = 3, s.pad_left = s.pad_right = 1;
    check({s, kind, {.activation = Activation::relu}});
    s.in_w = 64, s.stride_w = 2;
    check({s, kind, {}});
  }
}

TEST_CASE("epilogues: sigmoid of a padded lane stays zero, residual in place, scales") {
  for (ConvKind kind : {ConvKind::blocked, ConvKind::from_plain, ConvKind::plain}) {
    check({square(20, 20, 7, 3, 1, 1), kind, {.activation = Activation::sigmoid}, true, true, true});
    check({square(20, 20, 7, 3, 1, 1), kind, {.activation = Activation::clip, .low = 0.5f, .high = 0.9f}});
    check({square(260, 20, 6, 3, 1, 1),
           kind,
           {.alpha = 0.5f, .bias_scale = -2.0f, .beta = 3.0f},
           true,
           true,
           true});
  }
}

TEST_CASE("a kernel larger than the padded input has no output") {
  const ConvShape s = square(16, 16, 2, 5, 1, 1);
  CHECK(s.out_h() == 0);
  const ConvPlan plan(s, ConvKind::blocked);
  CHECK(plan.chunks() == 0);
  Serial serial;
  run_conv(plan, nullptr, nullptr, nullptr, {}, nullptr, serial);
}

TEST_CASE("refusals say why") {
  ConvShape s = square(12, 18, 11, 3, 1, 1);
  s.groups = 6;
  CHECK(conv_refuses(s, ConvKind::blocked) == "a group's channels are not whole blocks");
  CHECK(conv_refuses(s, ConvKind::from_plain) == "more than one group");
  CHECK(conv_refuses(s, ConvKind::depthwise) == "groups, input and output channels differ");
  CHECK(conv_refuses(s, ConvKind::plain).empty());
  CHECK(conv_refuses(s, ConvKind::winograd) == "a group's channels are not whole blocks");
  CHECK(conv_refuses(square(16, 16, 9, 5, 1, 2), ConvKind::winograd) == "the kernel is not 3x3");
  CHECK(conv_refuses(square(16, 16, 9, 3, 2, 1), ConvKind::winograd) == "strides or dilations");
}
