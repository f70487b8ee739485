// SPDX-License-Identifier: Apache-2.0
// f32 convolution in two dimensions (one dimension is height 1), on plain NCHW or on the blocked layout of
// reorder.h, whose block is the vector level's lanes when the plan is made.
//   ConvPlan plan(shape, ConvKind::blocked);            cuts the work by shape
//   pack_conv(plan, weights, packed, parallel);         once; packed holds plan.packed_floats() floats
//   run_conv(plan, input, packed, output, epilogue, scratch, parallel);
// Results do not depend on the number of threads. Running allocates nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "kernels/activation.h"
#include "kernels/conv_args.h"
#include "kernels/epilogue.h"
#include "kernels/pack.h"
#include "kernels/tile.h"

namespace sx::kernels {

struct ConvShape {
  size_t batch = 1, in_channels = 0, out_channels = 0, groups = 1;
  size_t in_h = 1, in_w = 0;
  size_t kernel_h = 1, kernel_w = 1;
  size_t stride_h = 1, stride_w = 1;
  size_t dilation_h = 1, dilation_w = 1;
  size_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;

  size_t out_h() const;  // 0 when the kernel is larger than the padded input
  size_t out_w() const;
};

enum class ConvKind : uint8_t {
  depthwise,   // blocked to blocked, one channel a group
  winograd,    // blocked to blocked, 3x3 of stride 1, where that is faster
  blocked,     // blocked to blocked, dense, or groups of whole blocks
  from_plain,  // plain to blocked, one group: the first layer with its few channels
  plain,       // plain to plain, anything
};

std::string_view conv_kind_name(ConvKind kind);

// Why `kind` cannot take the shape at this vector level; empty when it can.
std::string_view conv_refuses(const ConvShape& shape, ConvKind kind);

class ConvPlan {
 public:
  ConvPlan() = default;
  ConvPlan(const ConvShape& shape, ConvKind kind);  // conv_refuses(shape, kind) must be empty

  const ConvShape& shape() const { return shape_; }
  ConvKind kind() const { return kind_; }
  size_t block() const { return tiles_->lanes; }  // channels of a block where a side is blocked
  size_t packed_floats() const;
  size_t scratch_floats(size_t width) const;  // for a Parallel of that width; 64-byte aligned
  size_t chunks() const { return chunks_; }

 private:
  friend class ConvDense;
  friend class ConvWinograd;
  friend class ConvPlain;
  friend class ConvDepthwise;
  friend void pack_conv(const ConvPlan& plan, const void* weights, float* packed, Parallel& parallel);

  void plan_dense();
  void find_pieces();
  void plan_winograd();
  void plan_plain();
  void plan_depthwise();
  size_t inner() const;                 // length of a sum
  size_t inner_of(size_t piece) const;  // where a piece of it begins
  size_t square_stride() const;         // Winograd: floats between points of the input squares of a chunk
  size_t result_stride() const;         // and of their products with a panel

  ConvShape shape_;
  ConvKind kind_ = ConvKind::plain;
  const TileTable* tiles_ = nullptr;
  ConvTable table_ = {};
  WinogradTable winograd_ = {};
  PackTable pack_ = {};
  ActivateFn activate_ = nullptr;
  size_t chunks_ = 0;
  size_t out_h_ = 0, out_w_ = 0;
  size_t in_group_ = 0, out_group_ = 0;  // channels of a group
  // A sum is made of pieces (taps times channel blocks, or plain kernel rows), some of them at a time.
  size_t pieces_ = 0, piece_ = 0, k_blocks_ = 1, steps_per_sum_ = 1;
  size_t panels_ = 0, group_panels_ = 1, column_groups_ = 1;
  size_t row_blocks_ = 1;  // blocks of output positions, or of output lines
  bool lines_ = false;     // tiles stay within an output line, so that inner ones read the input in place
  bool in_place_ = false;  // every tile reads the input in place: 1x1, stride 1, no padding
  bool padded_ = false;    // a chunk's input lines are copied with their padding first, and read there
  size_t padded_w_ = 0, padded_lines_ = 0;
  size_t line_tiles_ = 1;
  size_t squares_h_ = 0, squares_w_ = 0;  // of Winograd; row_blocks_ cuts all of them
  std::vector<ptrdiff_t> piece_offset_;   // of each piece in the input, when read in place
};

// `weights` is [out_channels][in_channels / groups][kernel_h][kernel_w] and need not be aligned at all.
void pack_conv(const ConvPlan& plan, const void* weights, float* packed, Parallel& parallel);

void run_conv(const ConvPlan& plan, const float* input, const float* packed, float* output,
              const Epilogue& epilogue, float* scratch, Parallel& parallel);

}  // namespace sx::kernels
