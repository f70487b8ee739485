// SPDX-License-Identifier: Apache-2.0
// The vector parts of convolution: rows and columns gathered for the tiles, depthwise lines, packed weights.
#include "kernels/conv_args.h"
#include "kernels/transpose.h"
#include "kernels/vec.h"

namespace sx::SX_ISA {

using kernels::ConvColumns;
using kernels::ConvDepthwiseLine;
using kernels::ConvGather;
using kernels::ConvGeometry;
using kernels::ConvTable;

// Input coordinate of tap k at output o; past the end also when negative.
SX_INLINE size_t under(size_t o, size_t stride, size_t k, size_t dilation, size_t pad) {
  return o * stride + k * dilation - pad;
}

// A row is (tap, channel); a piece is one channel block under one tap. Every store writes a whole vector: the
// lanes beyond a channel tail are overwritten by the next piece, or lie in the slack at the end of the row.
static void gather_blocked(const ConvGather* args) {
  const ConvGather& a = *args;
  const ConvGeometry& g = a.g;
  const size_t plane = g.in_h * g.in_w * kLanes;
  const size_t blocks = (a.channels + kLanes - 1) / kLanes;
  const size_t tail = a.channels - (blocks - 1) * kLanes;
  size_t y = a.first / g.out_w, x = a.first % g.out_w;
  for (size_t r = 0; r < a.rows; ++r) {
    float* to = a.to + r * a.stride;
    size_t tap = a.piece0 / blocks, b = a.piece0 % blocks;
    size_t kh = tap / g.kernel_w, kw = tap % g.kernel_w;
    for (size_t piece = a.piece0; piece < a.piece1;) {
      const size_t left = a.piece1 - piece, end = left < blocks - b ? b + left : blocks;
      piece += end - b;
      const size_t iy = under(y, g.stride_h, kh, g.dilation_h, g.pad_top);
      const size_t ix = under(x, g.stride_w, kw, g.dilation_w, g.pad_left);
      if (iy < g.in_h && ix < g.in_w) {
        const float* from = a.input + (iy * g.in_w + ix) * kLanes + b * plane;
        for (size_t i = b; i < end; ++i, from += plane) store(to + (i - b) * kLanes, load(from));
      } else {
        for (size_t i = b; i < end; ++i) store(to + (i - b) * kLanes, zero());
      }
      to += end == blocks ? (blocks - 1 - b) * kLanes + tail : (end - b) * kLanes;
      b = 0;
      if (++kw == g.kernel_w) kw = 0, ++kh;
    }
    if (++x == g.out_w) x = 0, ++y;
  }
}

// kernel_w values from x on, zeros outside the line of `width` values; slack of a vector after them.
SX_INLINE void kernel_row(const float* line, size_t width, size_t x, size_t kernel_w, size_t dilation,
                          float* to) {
  if (dilation == 1 && x < width && kernel_w <= width - x) {
    size_t i = 0;
    for (; i + kLanes <= kernel_w; i += kLanes) store(to + i, load(line + x + i));
    if (i < kernel_w) store(to + i, load_part(line + x + i, kernel_w - i));
    return;
  }
  for (size_t i = 0; i < kernel_w; ++i) {
    const size_t at = x + i * dilation;
    to[i] = at < width ? line[at] : 0.0f;
  }
}

// A row is (channel, kernel row, kernel column); a piece is one kernel row of one channel.
static void gather_plain(const ConvGather* args) {
  const ConvGather& a = *args;
  const ConvGeometry& g = a.g;
  const size_t plane = g.in_h * g.in_w;
  size_t y = a.first / g.out_w, x = a.first % g.out_w;
  for (size_t r = 0; r < a.rows; ++r) {
    float* to = a.to + r * a.stride;
    size_t c = a.piece0 / g.kernel_h, kh = a.piece0 % g.kernel_h;
    const size_t ix = under(x, g.stride_w, 0, g.dilation_w, g.pad_left);
    for (size_t piece = a.piece0; piece < a.piece1; ++piece, to += g.kernel_w) {
      const size_t iy = under(y, g.stride_h, kh, g.dilation_h, g.pad_top);
      if (iy < g.in_h)
        kernel_row(a.input + c * plane + iy * g.in_w, g.in_w, ix, g.kernel_w, g.dilation_w, to);
      else
        for (size_t i = 0; i < g.kernel_w; ++i) to[i] = 0.0f;
      if (++kh == g.kernel_h) kh = 0, ++c;
    }
    if (++x == g.out_w) x = 0, ++y;
  }
}

// n values of a line from coordinate x (negative ones wrap round, so that they are past the end), `stride`
// apart.
SX_INLINE void strided_line(const float* line, size_t width, size_t x, size_t stride, size_t n, float* to) {
  size_t i = 0;
  if (stride == 1 && x < width && n <= width - x) {
    for (; i + kLanes <= n; i += kLanes) store(to + i, load(line + x + i));
    if (i < n) store_part(to + i, n - i, load_part(line + x + i, n - i));
    return;
  }
  for (; i < n; ++i) {
    const size_t at = x + i * stride;
    to[i] = at < width ? line[at] : 0.0f;
  }
}

static void columns(const ConvColumns* args) {
  const ConvColumns& a = *args;
  const ConvGeometry& g = a.g;
  const size_t plane = g.in_h * g.in_w, taps = g.kernel_h * g.kernel_w;
  for (size_t done = 0; done < a.cols;) {
    const size_t y = (a.first + done) / g.out_w, x = (a.first + done) % g.out_w;
    const size_t left = a.cols - done, n = left < g.out_w - x ? left : g.out_w - x;
    size_t c = a.k0 / taps, kh = a.k0 % taps / g.kernel_w, kw = a.k0 % g.kernel_w;
    for (size_t k = a.k0; k < a.k1; ++k) {
      float* to = a.to + (k - a.k0) * a.width + done;
      const size_t iy = under(y, g.stride_h, kh, g.dilation_h, g.pad_top);
      const size_t ix = under(x, g.stride_w, kw, g.dilation_w, g.pad_left);
      if (iy < g.in_h)
        strided_line(a.input + c * plane + iy * g.in_w, g.in_w, ix, g.stride_w, n, to);
      else
        for (size_t i = 0; i < n; ++i) to[i] = 0.0f;
      if (++kw == g.kernel_w) {
        kw = 0;
        if (++kh == g.kernel_h) kh = 0, ++c;
      }
    }
    done += n;
  }
  for (size_t k = a.k0; k < a.k1; ++k)
    for (size_t i = a.cols; i < a.width; ++i) a.to[(k - a.k0) * a.width + i] = 0.0f;
}

SX_INLINE Vec finish_depthwise(const ConvDepthwiseLine& a, Vec v, Mask exists, size_t x) {
  if (a.alpha != 1.0f) v *= a.alpha;
  if (a.residual) v = fma(set1(a.beta), load(a.residual + x * kLanes), v);
  if (a.bias) v = fma(set1(a.bias_scale), load_masked(a.bias, exists), v);
  if (a.clip) v = min(set1(a.high), max(set1(a.low), v));
  return a.channels < kLanes ? select(exists, v, zero()) : v;
}

// `count` neighbouring outputs whose taps all lie within the line.
template <int count>
SX_INLINE void depthwise_inside(const ConvDepthwiseLine& a, size_t x, Mask exists) {
  const ConvGeometry& g = a.g;
  Vec acc[count];
  SX_UNROLL
  for (int i = 0; i < count; ++i) acc[i] = zero();
  const size_t step = g.stride_w * kLanes;
  for (size_t kh = 0; kh < g.kernel_h; ++kh) {
    const size_t iy = under(a.y, g.stride_h, kh, g.dilation_h, g.pad_top);
    if (iy >= g.in_h) continue;
    const float* from = a.input + (iy * g.in_w + under(x, g.stride_w, 0, 0, g.pad_left)) * kLanes;
    const float* w = a.weights + kh * g.kernel_w * kLanes;
    for (size_t kw = 0; kw < g.kernel_w; ++kw, w += kLanes, from += g.dilation_w * kLanes) {
      const Vec weight = load(w);
      SX_UNROLL
      for (int i = 0; i < count; ++i) acc[i] = fma(load(from + (size_t)i * step), weight, acc[i]);
    }
  }
  SX_UNROLL
  for (int i = 0; i < count; ++i)
    store(a.output + (x + (size_t)i) * kLanes, finish_depthwise(a, acc[i], exists, x + (size_t)i));
}

SX_INLINE void depthwise_edge(const ConvDepthwiseLine& a, size_t x, Mask exists) {
  const ConvGeometry& g = a.g;
  Vec acc = zero();
  for (size_t kh = 0; kh < g.kernel_h; ++kh) {
    const size_t iy = under(a.y, g.stride_h, kh, g.dilation_h, g.pad_top);
    if (iy >= g.in_h) continue;
    for (size_t kw = 0; kw < g.kernel_w; ++kw) {
      const size_t ix = under(x, g.stride_w, kw, g.dilation_w, g.pad_left);
      if (ix >= g.in_w) continue;
      acc = fma(load(a.input + (iy * g.in_w + ix) * kLanes),
                load(a.weights + (kh * g.kernel_w + kw) * kLanes), acc);
    }
  }
  store(a.output + x * kLanes, finish_depthwise(a, acc, exists, x));
}

static void depthwise(const ConvDepthwiseLine* args) {
  const ConvDepthwiseLine& a = *args;
  const ConvGeometry& g = a.g;
  const Mask exists = first_lanes(a.channels < kLanes ? a.channels : kLanes);
  const size_t reach = (g.kernel_w - 1) * g.dilation_w;
  // Outputs in [inside0, inside1) have all their taps within the line.
  const size_t inside0 = (g.pad_left + g.stride_w - 1) / g.stride_w;
  const size_t room = g.in_w + g.pad_left;
  const size_t inside1 = room > reach ? (room - reach - 1) / g.stride_w + 1 : 0;
  constexpr int kTogether = 8;
  for (size_t x = a.x0; x < a.x1;) {
    if (x >= inside0 && x + kTogether <= inside1 && x + kTogether <= a.x1) {
      depthwise_inside<kTogether>(a, x, exists);
      x += kTogether;
    } else {
      depthwise_edge(a, x, exists);
      ++x;
    }
  }
}

static void pack_conv_panel(const void* source, size_t row, size_t channels, size_t taps, size_t cols,
                            size_t width, float* packed) {
  const float* weights = (const float*)source;
  // Of output channels j and on the n weights from i on, one vector a weight.
  const auto read = [&](size_t j, size_t i, size_t n, Vec(&square)[kLanes]) {
    SX_UNROLL
    for (size_t r = 0; r < kLanes; ++r) {
      const float* p = weights + (j + r) * row + i;
      square[r] = j + r >= cols ? zero() : n == kLanes ? load(p) : load_part(p, n);
    }
    transpose(square);
  };
  constexpr size_t kMany = 32;
  for (size_t j = 0; j < width; j += kLanes) {
    // Many taps: a few at a time through all channels, so that each is written from front to back.
    for (size_t t = 0; taps >= kMany && t < taps; t += kLanes) {
      const size_t n = taps - t < kLanes ? taps - t : kLanes;
      for (size_t c = 0; c < channels; ++c) {
        Vec square[kLanes];
        read(j, c * taps + t, n, square);
        for (size_t r = 0; r < n; ++r) store(packed + ((t + r) * channels + c) * width + j, square[r]);
      }
    }
    const size_t k = taps >= kMany ? 0 : channels * taps;
    for (size_t i = 0; i < k; i += kLanes) {
      const size_t n = k - i < kLanes ? k - i : kLanes;
      Vec square[kLanes];
      read(j, i, n, square);
      size_t tap = i % taps, channel = i / taps;
      for (size_t r = 0; r < n; ++r) {
        store(packed + (tap * channels + channel) * width + j, square[r]);
        if (++tap == taps) tap = 0, ++channel;
      }
    }
  }
}

extern const ConvTable kConv;
const ConvTable kConv = {gather_blocked, gather_plain, columns, depthwise, pack_conv_panel};

}  // namespace sx::SX_ISA
