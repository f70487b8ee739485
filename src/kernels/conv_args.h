// SPDX-License-Identifier: Apache-2.0
// What the vector parts of convolution are called with. Plain structs only.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sx::kernels {

struct ConvGeometry {
  size_t in_h, in_w, out_w;
  size_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
};

// Rows for tiles: row i holds the input values under the kernel at output position first + i, zeros where it
// reaches over the edge. `piece0` and `piece1` bound the pieces of the sum.
struct ConvGather {
  ConvGeometry g;
  const float* input;  // of the image and the group
  size_t channels;     // of the group
  size_t piece0, piece1;
  size_t first, rows;
  float* to;
  size_t stride;
};

// Columns for tiles: to[k][width], one column for each of `cols` output positions from `first`, k running
// over (channel, kernel row, kernel column) from k0 to k1. Plain input.
struct ConvColumns {
  ConvGeometry g;
  const float* input;
  size_t k0, k1;
  size_t first, cols, width;
  float* to;
};

// Positions [x0, x1) of output line y of one channel block of a depthwise convolution.
struct ConvDepthwiseLine {
  ConvGeometry g;
  const float* input;     // of the image and the block
  const float* weights;   // [kernel_h][kernel_w][lanes]
  const float* bias;      // may be null; `channels` of it exist
  const float* residual;  // of the line, may be null
  float* output;          // of the line
  size_t y, x0, x1, channels;
  float alpha, beta, bias_scale, low, high;
  uint8_t clip;
};

// Winograd convolution makes squares of results: 2 x 2 from 4 x 4 inputs, by 16 multiplications, not 36.
constexpr size_t kWinogradSquare = 2, kWinogradPoints = 16;

// Input squares [first, first + squares) of an image and group, to[point][square][channel].
struct WinogradInput {
  ConvGeometry g;
  const float* input;
  size_t channels;
  size_t squares_w;  // in a line of squares
  size_t first, squares;
  float* to;
  size_t point, row;  // floats between points, between squares
};

// Results of squares [first, first + squares) from from[point][square][channel], of up to 2 * lanes channels.
struct WinogradOutput {
  const float* from;
  size_t point, row;
  size_t squares_w, first, squares;
  size_t out_h, out_w, channels;
  float* output;
  const float* residual;  // may be null
  const float* bias;      // may be null; `channels` of it exist
  float alpha, beta, bias_scale, low, high;
  uint8_t clip;
};

struct WinogradTable {
  // [9][channels][width] to [16][channels][width], points `point` floats apart.
  void (*weights)(const float* taps, size_t channels, size_t width, float* to, size_t point);
  void (*input)(const WinogradInput* args);
  void (*output)(const WinogradOutput* args);
};

struct ConvTable {
  void (*gather_blocked)(const ConvGather* args);
  void (*gather_plain)(const ConvGather* args);
  void (*columns)(const ConvColumns* args);
  void (*depthwise)(const ConvDepthwiseLine* args);
  // [out][channels][taps] at any address, `row` floats from out to out, to a panel [taps][channels][width].
  void (*pack_panel)(const void* weights, size_t row, size_t channels, size_t taps, size_t cols, size_t width,
                     float* packed);
};

}  // namespace sx::kernels
