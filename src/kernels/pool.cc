// SPDX-License-Identifier: Apache-2.0
#include "kernels/pool.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/stop.h"
#include "kernels/chunks.h"
#include "kernels/dispatch.h"
#include "kernels/pool_args.h"
#include "kernels/reduce.h"

SX_LEVELS(void pool_line_blocked(const kernels::PoolLine* line))
SX_LEVELS(void pool_line_plain(const kernels::PoolLine* line))

namespace sx::kernels {
namespace {

// The part of a window that meets the input (or the padded input) along one dimension.
struct Window {
  size_t first = 0, count = 0;  // taps
  size_t padded = 0;            // taps that meet the padded input
};

Window window(const PoolShape& s, int d, size_t o) {
  const size_t at = o * s.stride[d], pad = s.pad_begin[d], step = s.dilation[d], taps = s.kernel[d];
  // How many taps lie before position `end` of the padded input.
  const auto before = [&](size_t end) {
    return end <= at ? 0 : std::min(taps, (end - at + step - 1) / step);
  };
  Window w;
  w.first = before(pad);
  w.count = before(pad + s.in[d]) - w.first;
  w.padded = before(pad + s.in[d] + s.pad_end[d]);
  return w;
}

Isa isa_of_block(size_t block) { return block == 16 ? Isa::avx512 : block == 8 ? Isa::avx2 : Isa::baseline; }

constexpr size_t kFactors = 1024;          // output positions of a piece of a line
constexpr size_t kHugeWindow = 64 * 1024;  // taps, of which fewer positions are a piece

// 1 / (elements in the window) for output positions [o, o + n), given the taps of the other dimensions. The
// average of nothing is 0 / 0.
void make_factors(const PoolShape& s, size_t o, size_t n, size_t taps, size_t padded, float* divide) {
  for (size_t i = 0; i < n; ++i) {
    const Window w = window(s, 2, o + i);
    const size_t count = s.kind == PoolKind::average ? w.count * taps : w.padded * padded;
    divide[i] = count ? 1.0f / static_cast<float>(count) : std::numeric_limits<float>::quiet_NaN();
  }
}

// Long lines are cut; a piece begins at an output position, so only the padding changes.
void one_piece(const PoolShape& s, const PoolLine& line, size_t o, size_t step, const float* divide,
               void (*work)(const PoolLine*)) {
  PoolLine piece = line;
  piece.out_width = std::min(step, s.out[2] - o);
  piece.y = line.y + o * s.block;
  const size_t skip = o * s.stride[2];
  if (skip >= s.pad_begin[2]) {
    const size_t drop = std::min(skip - s.pad_begin[2], line.in_width);
    piece.pad = 0;
    piece.x = line.x + drop * s.block;
    piece.in_width = line.in_width - drop;
  } else {
    piece.pad = s.pad_begin[2] - skip;
  }
  piece.divide = divide;
  work(&piece);
}

}  // namespace

void pool_run(const PoolShape& s, const float* x, float* y, Parallel& parallel) {
  const size_t blocks = (s.channels + s.block - 1) / s.block, planes = s.batch * blocks;
  const size_t in_line = s.in[2] * s.block, out_line = s.out[2] * s.block;
  const size_t in_plane = s.in[0] * s.in[1] * in_line, lines = s.out[0] * s.out[1];
  const Isa isa = s.block == 1 ? active_isa() : isa_of_block(s.block);
  auto* work = s.block == 1 ? SX_PICK_FOR(isa, pool_line_plain) : SX_PICK_FOR(isa, pool_line_blocked);
  const size_t cost = out_line * s.kernel[0] * s.kernel[1] * s.kernel[2];
  if (cost == 0) return;
  for_chunks(parallel, planes * lines, 128 * 1024 / cost, [&](size_t begin, size_t end) {
    float divide[kFactors];
    size_t made_taps = SIZE_MAX, made_padded = SIZE_MAX;  // what the factors were made for
    for (size_t u = begin; u < end; ++u) {
      const size_t plane = u / lines, od = u % lines / s.out[1], oh = u % s.out[1];
      const Window d = window(s, 0, od), h = window(s, 1, oh);
      const size_t first_d = od * s.stride[0] + d.first * s.dilation[0] - s.pad_begin[0];
      const size_t first_h = oh * s.stride[1] + h.first * s.dilation[1] - s.pad_begin[1];
      PoolLine line = {};
      line.planes = d.count, line.lines = h.count;
      const bool met = d.count && h.count;
      line.x = x + plane * in_plane + (met ? (first_d * s.in[1] + first_h) * in_line : 0);
      line.y = y + u * out_line;
      line.plane_step = static_cast<ptrdiff_t>(s.dilation[0] * s.in[1] * in_line);
      line.line_step = static_cast<ptrdiff_t>(s.dilation[1] * in_line);
      line.in_width = s.in[2], line.kernel = s.kernel[2], line.stride = s.stride[2],
      line.dilation = s.dilation[2];
      line.max = s.kind == PoolKind::max;
      const size_t left = s.channels - plane % blocks * s.block;
      line.lanes = left < s.block ? left : s.block;
      const size_t taps = d.count * h.count, padded = d.padded * h.padded;
      const size_t step = taps * s.kernel[2] > kHugeWindow ? 16 : kFactors;
      for (size_t o = 0; o < s.out[2] && !(o > 0 && stop_requested()); o += step) {
        const bool fresh = taps == made_taps && padded == made_padded && s.out[2] <= step;
        if (!line.max && !fresh) make_factors(s, o, std::min(step, s.out[2] - o), taps, padded, divide);
        made_taps = taps, made_padded = padded;
        one_piece(s, line, o, step, divide, work);
      }
    }
  });
}

void global_pool_run(PoolKind kind, size_t batch, size_t channels, size_t space, size_t block, const float* x,
                     float* y, Parallel& parallel) {
  const size_t dims[] = {batch * ((channels + block - 1) / block), space, block};
  const ptrdiff_t strides[] = {static_cast<ptrdiff_t>(space * block), static_cast<ptrdiff_t>(block), 1};
  const bool axes[] = {false, true, false};
  const auto plan =
      ReducePlan::make(kind == PoolKind::max ? ReduceOp::max : ReduceOp::mean, dims, strides, axes);
  if (plan.ok()) reduce_run(*plan, x, y, parallel);
}

}  // namespace sx::kernels
