// SPDX-License-Identifier: Apache-2.0
// Walks a matrix product tile by tile. A chunk is a block of rows times a group of panels of one batch entry;
// its rows of A stay in the second-level cache while panel after panel of B passes by.
#include "kernels/gemm.h"

#include <algorithm>

#include "base/task.h"
#include "kernels/cut.h"

namespace sx::kernels {

namespace {

constexpr size_t kMaxEntryFloats = 1 << 18;  // of a B that a chunk packs for itself

size_t round_to_line(size_t floats) { return divide_up(floats, 16) * 16; }

}  // namespace

GemmPlan::GemmPlan(const GemmShape& shape, BSource b)
    : shape_(shape), b_source_(b), tiles_(tile_table()), pack_(pack_table()), activate_(activate_rows()) {
  GemmShape& s = shape_;
  if (s.lda == 0) s.lda = s.trans_a ? s.m : s.k;
  if (s.ldb == 0) s.ldb = s.trans_b ? s.k : s.n;
  if (s.ldc == 0) s.ldc = s.n;
  entries_ = s.m == 0 || s.n == 0 ? 0 : s.batch[0] * s.batch[1];
  panels_ = divide_up(s.n, 2 * tiles_->lanes);
  const size_t max_rows = tiles_->max_rows;
  k_blocks_ = s.m <= max_rows ? 1 : std::max<size_t>(1, divide_up(s.k, kMaxInner));
  const size_t inner = std::max<size_t>(1, divide_up(s.k, k_blocks_));
  const size_t block_rows = std::max<size_t>(1, kRowBlockFloats / inner / max_rows) * max_rows;
  row_blocks_ = std::max<size_t>(1, divide_up(s.m, block_rows));
  copy_a_ = s.trans_a || (s.m > 4 && s.lda % 512 == 0 && s.n >= 128);

  const size_t work = std::max<size_t>(s.m, 8) * std::max<size_t>(s.k, 8) * panels_ * 2 * tiles_->lanes;
  pack_per_chunk_ =
      b == BSource::plain && entries_ > 1 && s.n * s.k <= kMaxEntryFloats && work < 16 * kMinChunkWork;
  if (pack_per_chunk_) {
    row_blocks_ = 1;
    group_panels_ = std::max<size_t>(1, panels_);
    chunk_entries_ = std::clamp<size_t>(kMinChunkWork / std::max<size_t>(1, work), 1, entries_);
  } else {
    group_panels_ =
        panels_per_chunk(panels_, work / std::max<size_t>(1, panels_ * row_blocks_), work * entries_);
  }
  column_groups_ = std::max<size_t>(1, divide_up(panels_, group_panels_));
}

size_t GemmPlan::packed_b_floats() const {
  const size_t width = divide_up(shape_.n, tiles_->lanes) * tiles_->lanes;
  return round_to_line(width * shape_.k);
}

size_t GemmPlan::scratch_floats(size_t width) const {
  size_t per_worker = 0, shared = 0;
  if (copy_a_) {
    const size_t rows = divide_up(shape_.m, row_blocks_);
    per_worker += rows * copied_row_stride(divide_up(shape_.k, k_blocks_));
  }
  if (b_source_ == BSource::plain) (pack_per_chunk_ ? per_worker : shared) += packed_b_floats();
  return shared + width * per_worker;
}

// One run: the operands of a plan, and the walk over a chunk.
class GemmRun {
 public:
  GemmRun(const GemmPlan& plan, const float* a, float* c, const Epilogue& epilogue)
      : p_(plan), s_(plan.shape_), a_(a), c_(c), e_(epilogue) {
    args_.alpha = e_.alpha;
    args_.bias_scale = e_.bias_scale;
    clip_ = is_clip(e_, args_.low, args_.high);
    lanes_ = p_.tiles_->lanes;
    width_ = 2 * lanes_;
  }

  void chunk(size_t entry, size_t row_block, size_t group, const float* packed, float* copy) const {
    const size_t row0 = cut(s_.m, p_.row_blocks_, row_block), row1 = cut(s_.m, p_.row_blocks_, row_block + 1);
    const size_t panel0 = group * p_.group_panels_;
    const size_t panel1 = std::min(p_.panels_, panel0 + p_.group_panels_);
    Block block;
    block.entry = entry;
    const size_t i = entry / s_.batch[1], j = entry % s_.batch[1];
    const float* a = a_ + offset(s_.a_batch, i, j);
    block.c = c_ + offset(s_.c_batch, i, j);
    block.residual = e_.residual ? e_.residual + offset(e_.residual_batch, i, j) : nullptr;
    StopCheck<kWorkPerLook> stop;
    for (size_t kb = 0; kb < p_.k_blocks_; ++kb) {
      block.k0 = cut(s_.k, p_.k_blocks_, kb);
      block.k1 = cut(s_.k, p_.k_blocks_, kb + 1);
      block.first = kb == 0;
      block.last = kb + 1 == p_.k_blocks_;
      block.a = a + (s_.trans_a ? block.k0 * s_.lda + row0 : row0 * s_.lda + block.k0);
      block.a_row = s_.lda;
      if (p_.copy_a_) {
        block.a_row = copied_row_stride(block.k1 - block.k0);
        p_.pack_.rows(block.a, s_.lda, s_.trans_a, row1 - row0, block.k1 - block.k0, copy, block.a_row);
        block.a = copy;
      }
      walk(block, row0, row1, panel0, panel1, packed, stop);
    }
  }

 private:
  struct Block {
    size_t entry, k0, k1;
    bool first, last;  // of the pieces of k
    const float* a;    // the block's first row
    size_t a_row;
    float* c;  // of the batch entry
    const float* residual;
  };

  static ptrdiff_t offset(const ptrdiff_t (&stride)[2], size_t i, size_t j) {
    return static_cast<ptrdiff_t>(i) * stride[0] + static_cast<ptrdiff_t>(j) * stride[1];
  }

  void walk(const Block& block, size_t row0, size_t row1, size_t panel0, size_t panel1, const float* packed,
            StopCheck<kWorkPerLook>& stop) const {
    const TileTable& tiles = *p_.tiles_;
    const size_t rows = row1 - row0;
    const size_t row_tiles = divide_up(rows, tiles.max_rows);
    for (size_t panel = panel0; panel < panel1 && !stop(rows * (block.k1 - block.k0));) {
      const bool narrow = s_.n - panel * width_ <= lanes_;
      const size_t full = (s_.n + lanes_ - 1) / width_;  // panels of two vectors
      const Together side = panels_together(tiles, rows, std::min(panel1, full) - std::min(panel, full));
      for (size_t t = 0; t < row_tiles; ++t) {
        const size_t i0 = cut(rows, row_tiles, t), i1 = cut(rows, row_tiles, t + 1);
        const TileFn fn = side.fn ? side.fn : (narrow ? tiles.narrow : tiles.normal)[i1 - i0 - 1];
        tile(block, fn, row0 + i0, i1 - i0, block.a + i0 * block.a_row, panel, side.panels,
             packed + panel * width_ * s_.k + block.k0 * (narrow ? lanes_ : width_));
      }
      panel += side.panels;
    }
  }

  void tile(const Block& block, TileFn fn, size_t row, size_t rows, const float* a, size_t panel, size_t side,
            const float* b) const {
    const size_t col = panel * width_, cols = std::min(side * width_, s_.n - col);
    TileArgs t = args_;
    t.a = a;
    t.a_row = static_cast<ptrdiff_t>(block.a_row);
    sum_in_pieces(t, block.k1 - block.k0, kSumLength);
    t.b = b;
    t.b_panel = width_ * s_.k;
    t.c = block.c + row * s_.ldc + col;
    t.c_row = s_.ldc;
    t.c_vector = t.add_vector = lanes_;
    t.cols = cols;
    if (!block.first) {
      t.add = t.c;
      t.add_row = s_.ldc;
      t.beta = 1.0f;
    } else if (block.residual) {
      t.add = block.residual + row * e_.residual_stride + col;
      t.add_row = e_.residual_stride;
      t.beta = e_.beta;
    }
    if (block.last) {
      if (e_.bias)
        (e_.bias_axis == BiasAxis::rows ? t.bias_row : t.bias_col) =
            e_.bias + (e_.bias_axis == BiasAxis::rows ? row : col);
      t.clip = clip_;
    }
    fn(&t);
    if (!block.last) return;
    if (!clip_ && e_.activation != Activation::none)
      p_.activate_(e_.activation, e_.low, e_.high, t.c, rows, cols, s_.ldc);
    if (e_.post) e_.post(e_.post_context, t.c, block.entry, row, rows, col, cols, s_.ldc);
  }

  const GemmPlan& p_;
  const GemmShape& s_;
  const float* a_;
  float* c_;
  const Epilogue& e_;
  TileArgs args_ = {};
  bool clip_ = false;
  size_t lanes_ = 0, width_ = 0;
};

constexpr size_t kPackedPerChunk = size_t{1} << 16;
// Of a B that is stored by rows: as many streams as the processor follows, and a page of each.
constexpr size_t kStreams = 16, kPanelsTogether = 32;

// A chunk of packing, and how many rows of it pass through all its panels at a time.
struct PackedPiece {
  size_t panels, rows, together;
};

PackedPiece piece_of_b(const GemmShape& s, size_t panels, size_t width) {
  const auto that_fit = [](size_t floats) { return divide_up(kPackedPerChunk, std::max<size_t>(1, floats)); };
  if (s.trans_b) {  // columns are what lies side by side
    const size_t rows = std::min(std::max<size_t>(1, s.k), kPackedPerChunk);
    return {that_fit(rows * width), rows, rows};
  }
  const size_t together = std::clamp<size_t>(panels, 1, kPanelsTogether);
  return {together, divide_up(that_fit(together * width), kStreams) * kStreams, kStreams};
}

void pack_b(const GemmPlan& plan, const void* b, float* packed, Parallel& parallel) {
  const GemmShape& s = plan.shape_;
  const size_t lanes = plan.tiles_->lanes, width = 2 * lanes;
  const PackedPiece piece = piece_of_b(s, plan.panels_, width);
  const auto pack = [&](size_t panel, size_t k, size_t rows) {
    const size_t col = panel * width, cols = std::min(width, s.n - col),
                 to_width = cols <= lanes ? lanes : width;
    const size_t from = s.trans_b ? col * s.ldb + k : k * s.ldb + col;
    plan.pack_.panel(static_cast<const char*>(b) + from * sizeof(float), s.ldb, s.trans_b, rows, cols,
                     to_width, packed + col * s.k + k * to_width);
  };
  const size_t across = divide_up(plan.panels_, piece.panels), down = divide_up(s.k, piece.rows);
  const auto body = [&](size_t chunk, size_t) {
    const size_t panel0 = chunk % across * piece.panels, k0 = chunk / across * piece.rows;
    const size_t panel1 = std::min(plan.panels_, panel0 + piece.panels), k1 = std::min(s.k, k0 + piece.rows);
    for (size_t k = k0; k < k1 && !stop_requested(); k += piece.together)
      for (size_t panel = panel0; panel < panel1; ++panel) pack(panel, k, std::min(piece.together, k1 - k));
  };
  if (across * down == 1)
    body(0, 0);
  else
    parallel.run(across * down, body);
}

void run_gemm(const GemmPlan& plan, const float* a, const float* b, float* c, const Epilogue& epilogue,
              float* scratch, Parallel& parallel) {
  const GemmRun run(plan, a, c, epilogue);
  const GemmShape& s = plan.shape_;
  const size_t per_entry = plan.row_blocks_ * plan.column_groups_;
  const size_t packed = plan.packed_b_floats();
  const auto b_of = [&](size_t entry) {
    return b + static_cast<ptrdiff_t>(entry / s.batch[1]) * s.b_batch[0] +
           static_cast<ptrdiff_t>(entry % s.batch[1]) * s.b_batch[1];
  };
  const auto for_chunks = [&](size_t chunks, auto body) {
    if (chunks == 1)
      body(size_t{0}, size_t{0});
    else
      parallel.run(chunks, body);
  };
  if (plan.pack_per_chunk_) {
    const size_t per_worker = plan.scratch_floats(1);
    for_chunks(divide_up(plan.entries_, plan.chunk_entries_), [&](size_t chunk, size_t worker) {
      float* own = scratch + worker * per_worker;
      const size_t end = std::min(plan.entries_, (chunk + 1) * plan.chunk_entries_);
      Serial serial;
      for (size_t entry = chunk * plan.chunk_entries_; entry < end; ++entry) {
        pack_b(plan, b_of(entry), own, serial);
        run.chunk(entry, 0, 0, own, own + packed);
      }
    });
    return;
  }
  const bool plain = plan.b_source_ == BSource::plain;
  float* copies = plain ? scratch + packed : scratch;
  const size_t copy_floats = plan.scratch_floats(1) - (plain ? packed : 0);
  const size_t together = plain ? 1 : plan.entries_;  // entries that share one packed B
  for (size_t entry = 0; entry < plan.entries_; entry += together) {
    if (plain) pack_b(plan, b_of(entry), scratch, parallel);
    for_chunks(together * per_entry, [&](size_t chunk, size_t worker) {
      const size_t part = chunk % per_entry;
      run.chunk(entry + chunk / per_entry, part / plan.column_groups_, part % plan.column_groups_,
                plain ? scratch : b, copies + worker * copy_floats);
    });
  }
}

}  // namespace sx::kernels
