// SPDX-License-Identifier: Apache-2.0
// Plans convolutions, packs their weights and hands a run to the kind's walk.
#include "kernels/conv.h"

#include "kernels/conv_run.h"
#include "kernels/cut.h"
#include "kernels/dispatch.h"

SX_LEVELS(extern const kernels::ConvTable kConv; extern const kernels::WinogradTable kWinograd)

namespace sx::kernels {

namespace {

size_t out_size(size_t in, size_t before, size_t after, size_t kernel, size_t dilation, size_t stride) {
  const size_t reach = dilation * (kernel - 1) + 1, padded = in + before + after;
  return padded < reach ? 0 : (padded - reach) / stride + 1;
}

constexpr size_t kPaddedChannels = 16;    // whose lines are few enough to copy
constexpr size_t kChannelsTogether = 16;  // whose transformed weights stay in the first-level cache
constexpr size_t kMinLine = 6;            // output positions that make a tile

// Pieces at once, so that a panel's share of the weights stays in the cache.
size_t inner_blocks(size_t inner, size_t pieces) {
  return std::min(std::max<size_t>(1, pieces), std::max<size_t>(1, divide_up(inner, kMaxInner)));
}

}  // namespace

size_t ConvShape::out_h() const {
  return out_size(in_h, pad_top, pad_bottom, kernel_h, dilation_h, stride_h);
}
size_t ConvShape::out_w() const {
  return out_size(in_w, pad_left, pad_right, kernel_w, dilation_w, stride_w);
}

std::string_view conv_kind_name(ConvKind kind) {
  constexpr std::string_view kNames[] = {"depthwise", "winograd", "blocked", "from_plain", "plain"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view conv_refuses(const ConvShape& s, ConvKind kind) {
  const size_t lanes = tile_table()->lanes;
  if (s.in_channels == 0 && kind != ConvKind::plain) return "no input channels";
  switch (kind) {
    case ConvKind::depthwise:
      return s.groups == s.in_channels && s.groups == s.out_channels
                 ? ""
                 : "groups, input and output channels differ";
    case ConvKind::winograd:
      if (s.kernel_h != 3 || s.kernel_w != 3) return "the kernel is not 3x3";
      if (s.stride_h != 1 || s.stride_w != 1 || s.dilation_h != 1 || s.dilation_w != 1)
        return "strides or dilations";
      [[fallthrough]];
    case ConvKind::blocked:
      if (s.groups == 1) return "";
      return s.in_channels / s.groups % lanes == 0 && s.out_channels / s.groups % lanes == 0
                 ? ""
                 : "a group's channels are not whole blocks";
    case ConvKind::from_plain: return s.groups == 1 ? "" : "more than one group";
    case ConvKind::plain: return "";
  }
  return "";
}

ConvPlan::ConvPlan(const ConvShape& shape, ConvKind kind)
    : shape_(shape),
      kind_(kind),
      tiles_(tile_table()),
      table_(*SX_PICK(kConv)),
      winograd_(*SX_PICK(kWinograd)),
      pack_(pack_table()),
      activate_(activate_rows()),
      out_h_(shape.out_h()),
      out_w_(shape.out_w()),
      in_group_(shape.in_channels / shape.groups),
      out_group_(shape.out_channels / shape.groups) {
  switch (kind_) {
    case ConvKind::depthwise: plan_depthwise(); break;
    case ConvKind::plain: plan_plain(); break;
    case ConvKind::winograd: plan_winograd(); break;
    default: plan_dense(); break;
  }
}

size_t ConvPlan::inner() const { return in_group_ * shape_.kernel_h * shape_.kernel_w; }

size_t ConvPlan::inner_of(size_t piece) const {
  if (kind_ != ConvKind::blocked) return piece * piece_;
  const size_t blocks = divide_up(in_group_, piece_);
  return piece / blocks * in_group_ + piece % blocks * piece_;
}

void ConvPlan::plan_dense() {
  const ConvShape& s = shape_;
  const size_t lanes = tiles_->lanes, taps = s.kernel_h * s.kernel_w, positions = out_h_ * out_w_;
  const bool blocked = kind_ == ConvKind::blocked;
  const bool padded = s.pad_top || s.pad_left || s.pad_bottom || s.pad_right;
  const size_t blocks = divide_up(in_group_, lanes);
  piece_ = blocked ? lanes : s.kernel_w;
  pieces_ = blocked ? taps * blocks : in_group_ * s.kernel_h;
  steps_per_sum_ = std::max<size_t>(1, kSumLength / std::max<size_t>(1, piece_));
  k_blocks_ = inner_blocks(inner(), pieces_);
  in_place_ = blocked && taps == 1 && s.stride_h == 1 && s.stride_w == 1 && !padded;
  // A tail of channels between two taps, or spread taps of a plain line, are not whole pieces in memory.
  const bool uniform = blocked ? taps == 1 || in_group_ % lanes == 0 : s.dilation_w == 1;
  // Few plain channels are cheap to copy with their padding; blocked ones are gathered at the edges.
  const bool few = !blocked && in_group_ <= kPaddedChannels;
  lines_ = !in_place_ && uniform && out_w_ >= (few ? kMinLine : 2 * tiles_->max_rows) && out_group_ <= 256;
  line_tiles_ = std::max<size_t>(1, divide_up(out_w_, tiles_->max_rows));
  const size_t k = std::max<size_t>(1, divide_up(inner(), k_blocks_));
  const size_t block_rows = std::max(tiles_->max_rows, kRowBlockFloats / k);
  row_blocks_ = lines_ ? divide_up(out_h_, std::max<size_t>(1, block_rows / std::max<size_t>(1, out_w_)))
                       : std::max<size_t>(1, divide_up(positions, block_rows));
  panels_ = divide_up(out_group_, 2 * lanes);
  const size_t panel_work = positions * inner() * 2 * lanes;
  const size_t total = panel_work * panels_ * s.groups * s.batch;
  // Small kernels make cheap rows: cut until a chunk is worth a thread's while, not further.
  const size_t wanted_blocks = std::min(
      divide_up(positions, tiles_->max_rows),
      divide_up(total / std::max<size_t>(1, s.groups * s.batch), std::max(kMinChunkWork, total / kChunks)));
  row_blocks_ =
      std::max<size_t>(1, std::max(row_blocks_, std::min(wanted_blocks, lines_ ? out_h_ : wanted_blocks)));
  group_panels_ = panels_per_chunk(panels_, panel_work / row_blocks_, total);
  column_groups_ = std::max<size_t>(1, divide_up(panels_, group_panels_));
  chunks_ = positions == 0 || out_group_ == 0 ? 0 : s.batch * s.groups * row_blocks_ * column_groups_;
  padded_ = lines_ && few && padded && positions > 0;
  if (padded_) {
    padded_w_ = (out_w_ - 1) * s.stride_w + s.kernel_w;
    padded_lines_ = (divide_up(out_h_, row_blocks_) - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
  }
  if (in_place_ || lines_) find_pieces();
}

void ConvPlan::find_pieces() {
  const ConvShape& s = shape_;
  const bool blocked = kind_ == ConvKind::blocked;
  const size_t width = padded_ ? padded_w_ : s.in_w, plane = (padded_ ? padded_lines_ : s.in_h) * width;
  const size_t blocks = std::max<size_t>(1, divide_up(in_group_, tiles_->lanes));
  for (size_t piece = 0; piece < pieces_; ++piece) {
    const size_t tap = piece / blocks, kh = blocked ? tap / s.kernel_w : piece % s.kernel_h;
    const size_t at = kh * s.dilation_h * width;
    piece_offset_.push_back(static_cast<ptrdiff_t>(
        blocked ? (at + tap % s.kernel_w * s.dilation_w + piece % blocks * plane) * tiles_->lanes
                : at + piece / s.kernel_h * plane));
  }
}

void ConvPlan::plan_winograd() {
  const ConvShape& s = shape_;
  squares_h_ = divide_up(out_h_, kWinogradSquare);
  squares_w_ = divide_up(out_w_, kWinogradSquare);
  const size_t squares = squares_h_ * squares_w_;
  const size_t block = std::max(tiles_->max_rows, kSquareFloats / std::max<size_t>(1, in_group_));
  row_blocks_ = std::max<size_t>(1, divide_up(squares, block));
  panels_ = divide_up(out_group_, 2 * tiles_->lanes);
  const size_t panel_work = squares * kWinogradPoints * in_group_ * 2 * tiles_->lanes;
  group_panels_ =
      panels_per_chunk(panels_, panel_work / row_blocks_, panel_work * panels_ * s.groups * s.batch);
  column_groups_ = std::max<size_t>(1, divide_up(panels_, group_panels_));
  chunks_ = squares == 0 || out_group_ == 0 ? 0 : s.batch * s.groups * row_blocks_ * column_groups_;
}

void ConvPlan::plan_plain() {
  const ConvShape& s = shape_;
  const size_t width = 2 * tiles_->lanes, positions = out_h_ * out_w_;
  pieces_ = inner();
  piece_ = 1;
  k_blocks_ = inner_blocks(inner(), pieces_);
  panels_ = divide_up(positions, width);
  const size_t panel_work = inner() * out_group_ * width;
  const size_t total = panel_work * panels_ * s.groups * s.batch;
  group_panels_ = panels_per_chunk(panels_, panel_work, total);
  column_groups_ = std::max<size_t>(1, divide_up(panels_, group_panels_));
  chunks_ = positions == 0 || out_group_ == 0 ? 0 : s.batch * s.groups * column_groups_;
}

void ConvPlan::plan_depthwise() {
  const ConvShape& s = shape_;
  const size_t blocks = divide_up(s.in_channels, tiles_->lanes);
  const size_t line = out_w_ * s.kernel_h * s.kernel_w * tiles_->lanes;
  // A tap costs a load as well as a multiplication, so chunks are smaller than those of a product.
  const size_t lines = std::max<size_t>(1, kMinChunkWork / 8 / std::max<size_t>(1, line));
  row_blocks_ = std::max<size_t>(1, divide_up(out_h_, lines));
  panels_ = blocks;
  group_panels_ = row_blocks_ > 1 ? 1
                                  : std::clamp<size_t>(lines / std::max<size_t>(1, out_h_), 1,
                                                       std::max<size_t>(1, blocks));
  column_groups_ = std::max<size_t>(1, divide_up(blocks, group_panels_));
  chunks_ = out_h_ * out_w_ == 0 ? 0 : s.batch * column_groups_ * row_blocks_;
}

size_t ConvPlan::packed_floats() const {
  const size_t lanes = tiles_->lanes, taps = shape_.kernel_h * shape_.kernel_w;
  switch (kind_) {
    case ConvKind::depthwise: return divide_up(shape_.in_channels, lanes) * lanes * taps;
    case ConvKind::plain: return shape_.out_channels * copied_row_stride(inner());
    case ConvKind::winograd:
      return shape_.groups * divide_up(out_group_, lanes) * lanes * in_group_ * kWinogradPoints;
    default: return shape_.groups * divide_up(out_group_, lanes) * lanes * inner();
  }
}

size_t ConvPlan::square_stride() const {
  const size_t squares = divide_up(squares_h_ * squares_w_, row_blocks_);
  return copied_row_stride(squares * copied_row_stride(in_group_ + tiles_->lanes));
}

size_t ConvPlan::result_stride() const {
  return copied_row_stride(divide_up(squares_h_ * squares_w_, row_blocks_) * 2 * tiles_->lanes);
}

size_t ConvPlan::scratch_floats(size_t width) const {
  const size_t k = divide_up(inner(), k_blocks_) + 2 * piece_;  // blocks are cut between pieces
  switch (kind_) {
    case ConvKind::depthwise: return 0;
    case ConvKind::plain: return width * k * 2 * tiles_->lanes;
    case ConvKind::winograd: return width * kWinogradPoints * (square_stride() + result_stride());
    default: break;
  }
  if (in_place_) return 0;
  if (padded_) return width * copied_row_stride(in_group_ * padded_lines_ * padded_w_);
  const size_t rows =
      lines_ ? divide_up(out_h_, row_blocks_) * out_w_ : divide_up(out_h_ * out_w_, row_blocks_);
  return width * rows * copied_row_stride(k + tiles_->lanes);
}

void pack_conv(const ConvPlan& plan, const void* weights, float* packed, Parallel& parallel) {
  const ConvShape& s = plan.shape_;
  const size_t lanes = plan.tiles_->lanes, width = 2 * lanes, taps = s.kernel_h * s.kernel_w,
               k = plan.inner();
  const char* bytes = static_cast<const char*>(weights);
  if (plan.kind_ == ConvKind::plain) {
    const size_t stride = copied_row_stride(k);
    plan.pack_.rows(reinterpret_cast<const float*>(bytes), k, false, s.out_channels, k, packed, stride);
    return;
  }
  if (plan.kind_ == ConvKind::depthwise) {
    // Channels are the columns, taps the inner dimension.
    for (size_t c = 0; c < s.in_channels; c += lanes)
      plan.pack_.panel(bytes + c * taps * sizeof(float), taps, true, taps, std::min(lanes, s.in_channels - c),
                       lanes, packed + c * taps);
    return;
  }
  const size_t padded = divide_up(plan.out_group_, lanes) * lanes;
  const bool winograd = plan.kind_ == ConvKind::winograd;
  parallel.run(s.groups * plan.panels_, [&](size_t chunk, size_t) {
    const size_t group = chunk / plan.panels_, col = chunk % plan.panels_ * width;
    const size_t cols = std::min(width, plan.out_group_ - col), panel = cols <= lanes ? lanes : width;
    const char* from = bytes + (group * plan.out_group_ + col) * k * sizeof(float);
    if (winograd) {
      std::vector<float> taps_first(taps * kChannelsTogether * panel);
      float* to = packed + (group * padded + col) * plan.in_group_ * kWinogradPoints;
      for (size_t c = 0; c < plan.in_group_; c += kChannelsTogether) {
        const size_t channels = std::min(kChannelsTogether, plan.in_group_ - c);
        plan.table_.pack_panel(from + c * taps * sizeof(float), k, channels, taps, cols, panel,
                               taps_first.data());
        plan.winograd_.weights(taps_first.data(), channels, panel, to + c * panel, plan.in_group_ * panel);
      }
      return;
    }
    float* to = packed + (group * padded + col) * k;
    if (plan.kind_ == ConvKind::blocked && taps > 1)
      plan.table_.pack_panel(from, k, plan.in_group_, taps, cols, panel, to);
    else
      plan.pack_.panel(from, k, true, k, cols, panel, to);
  });
}

void run_conv(const ConvPlan& plan, const float* input, const float* packed, float* output,
              const Epilogue& epilogue, float* scratch, Parallel& parallel) {
  const ConvOperands operands = {input, packed, output, epilogue, scratch};
  switch (plan.kind()) {
    case ConvKind::depthwise: run_depthwise(plan, operands, parallel); break;
    case ConvKind::plain: run_plain(plan, operands, parallel); break;
    case ConvKind::winograd: run_winograd(plan, operands, parallel); break;
    default: run_dense(plan, operands, parallel); break;
  }
}

}  // namespace sx::kernels
