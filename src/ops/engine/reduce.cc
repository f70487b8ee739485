// SPDX-License-Identifier: Apache-2.0
#include "ops/engine/reduce.h"

#include <algorithm>
#include <cstring>

#include "base/workspace.h"
#include "graph/op.h"
#include "ops/engine/walk.h"

namespace sx {
namespace {

// Splits a tensor's axes: `kept` to walk over, `lines` inside one group.
struct Split {
  Walk kept, lines;
  int64_t length = 1;
};

Split split(const Tensor& x, Axes axes) {
  Split s;
  s.kept.strides.resize(1);
  s.lines.strides.resize(1);
  const Dims strides = contiguous_strides(x.dims());
  for (size_t i = 0, k = 0; i < x.rank(); ++i) {
    const bool inside = k < axes.size() && axes[k] == i;
    if (inside) {
      ++k;
      s.length *= x.dims()[i];
    }
    Walk& w = inside ? s.lines : s.kept;
    w.dims.push_back(x.dims()[i]);
    w.strides[0].push_back(strides[i]);
  }
  return s;
}

// The same where each group makes one element of `out`, the kept axes simplified.
Result<Split> split_into(const Eval& e, const Tensor& x, Axes axes, const Tensor& out) {
  Split s = split(x, axes);
  if (product(s.kept.dims) != out.count()) {
    return e.fail("{}: {} groups do not fit in an output {}", e.op().name, product(s.kept.dims),
                  to_string(out.dims()));
  }
  s.kept.simplify();
  return s;
}

// One group's elements as a contiguous run of the class: in place where they lie so, gathered otherwise.
class Group {
 public:
  Group(const Tensor& t, const Walk& lines, int64_t length, Class c)
      : t_(t), lines_(lines), length_(length), class_(c), size_(class_size(c)) {
    lines_.simplify();
    in_place_ = is_storage_of(t, c) && lines_.dims.size() == 1 && (length <= 1 || lines_.strides[0][0] == 1);
    if (!in_place_) own_.resize(size_t(length) * size_ / sizeof(Cell) + 1);
  }
  // How many groups beside each other, each an element further, are best read together.
  size_t together(const Walk& kept) const {
    const bool neighbours = kept.strides[0].back() == 1 && is_storage_of(t_.type(), class_);
    if (in_place_ || !neighbours || length_ <= 1) return 1;
    const size_t in_a_line = kCacheLine / size_, fit = kTogether / (size_t(length_) * size_);
    return std::max<size_t>(1, std::min({in_a_line, fit, size_t(kept.inner())}));
  }
  // Bytes from one of several groups to the next: an odd number of cache lines, so that they fall into
  // different sets.
  size_t pitch() const { return ((size_t(length_) * size_ + kCacheLine - 1) / kCacheLine | 1) * kCacheLine; }
  // So many groups, a pitch apart.
  const void* read(int64_t offset, size_t groups) {
    if (groups == 1) return read(offset);
    own_.resize(groups * pitch() / sizeof(Cell));
    visit(offset, [&](int64_t first, int64_t step, size_t done, size_t n) {
      switch (size_) {
        case 1: return spread<1>(first, step, done, n, groups);
        case 4: return spread<4>(first, step, done, n, groups);
        case 8: return spread<8>(first, step, done, n, groups);
        default: return spread<sizeof(complex128)>(first, step, done, n, groups);
      }
    });
    return bytes();
  }
  const void* read(int64_t offset) {
    if (in_place_) return static_cast<const char*>(t_.data()) + offset * int64_t(size_);
    visit(offset, [&](int64_t first, int64_t step, size_t done, size_t n) {
      decode(class_, t_.type(), t_.data(), first, step, n, bytes() + done * size_);
    });
    return bytes();
  }
  // Where to write a group; store() then puts it into the tensor.
  void* begin(Tensor& t, int64_t offset) {
    return in_place_ ? static_cast<char*>(t.mutable_data()) + offset * int64_t(size_) : bytes();
  }
  void store(Tensor& t, int64_t offset) {
    if (in_place_) return;
    visit(offset, [&](int64_t first, int64_t step, size_t done, size_t n) {
      encode(class_, bytes() + done * size_, n, t.type(), t.mutable_data(), first, step);
    });
  }

 private:
  static constexpr size_t kCacheLine = 64, kTogether = size_t{4} << 20, kAhead = 24;
  char* bytes() { return reinterpret_cast<char*>(own_.data()); }
  template <size_t size>
  void spread(int64_t first, int64_t step, size_t done, size_t n, size_t groups) {
    const char* from = static_cast<const char*>(t_.data()) + first * int64_t(size);
    const size_t apart = pitch();
    for (size_t k : turns(n, groups)) {
      const char* line = from + int64_t(k) * step * int64_t(size);
      char* to = bytes() + (done + k) * size;
      if (k + kAhead < n) __builtin_prefetch(line + int64_t(kAhead) * step * int64_t(size));
      for (size_t g = 0; g < groups; ++g) std::memcpy(to + g * apart, line + g * size, size);
    }
  }
  template <class F>
  void visit(int64_t offset, F f) {
    std::vector<int64_t> offsets{offset};
    Dims at(lines_.dims.size(), 0);
    StopCheck<16 * 1024> stop;
    for (int64_t done = 0; done < length_ && !stop(size_t(lines_.inner())); done += lines_.inner()) {
      f(offsets[0], lines_.strides[0].back(), size_t(done), size_t(lines_.inner()));
      lines_.step(at, offsets);
    }
  }
  const Tensor& t_;
  Walk lines_;
  int64_t length_;
  Class class_;
  size_t size_;
  bool in_place_ = false;
  struct alignas(complex128) Cell {
    unsigned char bytes[sizeof(complex128)];
  };
  Workspace<Cell> own_;
};

// Calls f(offset, n) for each position of the kept axes, in row-major order; `together` of them along the
// last axis at once, or the n that are left there.
template <class F>
void each_kept(Walk w, size_t length, size_t together, F f) {
  w.simplify();
  const int64_t count = product(w.dims);
  std::vector<int64_t> offsets(w.strides.size(), 0);
  std::vector<int64_t> inner(w.strides.size());
  Dims at(w.dims.size(), 0);
  StopCheck<16 * 1024> stop;
  for (int64_t done = 0; done < count; done += w.inner()) {
    inner = offsets;
    for (int64_t k = 0; k < w.inner(); k += int64_t(together)) {
      const size_t n = std::min(together, size_t(w.inner() - k));
      if (stop(n * length + 1)) return;
      f(inner, n);
      for (size_t s = 0; s < inner.size(); ++s) inner[s] += w.strides[s].back() * int64_t(n);
    }
    w.step(at, offsets);
  }
}

}  // namespace

Status reduce_groups(const Eval& e, const Tensor& x, Axes axes, Tensor& out, Class c, Class result,
                     ReduceKernel kernel) {
  SX_ASSIGN(Split s, split_into(e, x, axes, out));
  Group group(x, s.lines, s.length, c);
  constexpr size_t kBlock = 256;
  std::vector<complex128> results(kBlock);
  char* bytes = reinterpret_cast<char*>(results.data());
  const size_t size = class_size(result);
  size_t filled = 0;
  int64_t done = 0;
  auto flush = [&] {
    encode(result, bytes, filled, out.type(), out.mutable_data(), done, 1);
    done += int64_t(filled);
    filled = 0;
  };
  each_kept(s.kept, size_t(s.length), group.together(s.kept), [&](const auto& offset, size_t groups) {
    const char* in = static_cast<const char*>(group.read(offset[0], groups));
    for (size_t g = 0; g < groups; ++g) {
      kernel(in + g * group.pitch(), size_t(s.length), bytes + filled * size);
      if (++filled == kBlock) flush();
    }
  });
  if (!stop_requested()) flush();
  return {};
}

Status fold_groups(const Eval& e, const Tensor& x, Axes axes, Tensor& out, Class c,
                   const FoldKernel& kernel) {
  SX_ASSIGN(Split s, split_into(e, x, axes, out));
  s.lines.simplify();
  constexpr size_t kBlock = 256;
  struct Cells {
    complex128 of[kBlock];
  };
  std::vector<Cells> cells(3);
  void *states = cells[0].of, *results = cells[1].of, *decoded = cells[2].of;
  const bool direct = is_storage_of(x, c), rows = s.kept.strides[0].back() == 1 && s.kept.inner() > 1;
  const size_t size = class_size(c);
  // n elements beside each other, in the class.
  const auto read = [&](int64_t first, size_t n) -> const void* {
    if (direct) return static_cast<const char*>(x.data()) + first * int64_t(size);
    decode(c, x.type(), x.data(), first, 1, n, decoded);
    return decoded;
  };
  StopCheck<16 * 1024> stop;
  int64_t done = 0;
  each_kept(s.kept, 0, rows ? kBlock : 1, [&](const auto& offset, size_t groups) {
    kernel.begin(states, groups);
    std::vector<int64_t> at_line{offset[0]};
    Dims at(s.lines.dims.size(), 0);
    const int64_t inner = s.lines.inner(), step = s.lines.strides[0].back();
    for (int64_t line = 0; line < s.length && !stop(groups); line += inner) {
      for (int64_t k = 0; k < inner && !stop(groups);) {
        const int64_t first = at_line[0] + k * step;
        const size_t n = rows || step != 1 ? 1 : std::min(kBlock, size_t(inner - k));
        if (rows)
          kernel.across(states, read(first, groups), groups);
        else
          kernel.along(states, read(first, n), n);
        k += int64_t(n);
      }
      s.lines.step(at, at_line);
    }
    kernel.end(states, groups, size_t(s.length), results);
    encode(c, results, groups, out.type(), out.mutable_data(), done, 1);
    done += int64_t(groups);
  });
  return {};
}

Status along_lines(const Eval& e, const Tensor& x, Axes axes, Tensor& out, Class c, AlongKernel kernel) {
  if (x.rank() != out.rank()) {
    return e.fail("{}: the output {} has another rank than {}", e.op().name, to_string(out.dims()),
                  to_string(x.dims()));
  }
  Split from = split(x, axes);
  const Split to = split(out, axes);
  if (!(from.kept.dims == to.kept.dims)) {
    return e.fail("{}: the output {} does not match {}", e.op().name, to_string(out.dims()),
                  to_string(x.dims()));
  }
  Group lines_in(x, from.lines, from.length, c), lines_out(out, to.lines, to.length, c);
  from.kept.strides.push_back(to.kept.strides[0]);
  each_kept(from.kept, size_t(from.length + to.length), 1, [&](const auto& offset, size_t /*one*/) {
    const void* in = lines_in.read(offset[0]);
    kernel(in, size_t(from.length), lines_out.begin(out, offset[1]), size_t(to.length));
    lines_out.store(out, offset[1]);
  });
  return {};
}

}  // namespace sx
