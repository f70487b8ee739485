// SPDX-License-Identifier: Apache-2.0
#include "ops/engine/move.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/task.h"
#include "ops/engine/walk.h"
#include "tensor/text_account.h"

namespace sx {
namespace {

struct Bytes16 {
  uint64_t low, high;
};

// Reads and writes one element, by size. Sub-byte elements share bytes, the first in the lowest bits.
template <class S>
struct Whole {
  static void copy(const void* from, int64_t i, void* to, int64_t k) {
    __builtin_memcpy(static_cast<char*>(to) + k * int64_t(sizeof(S)),
                     static_cast<const char*>(from) + i * int64_t(sizeof(S)), sizeof(S));
  }
  static void run(const void* from, int64_t i, void* to, int64_t k, int64_t n) {
    if (n > 0) {
      std::memmove(static_cast<char*>(to) + k * int64_t(sizeof(S)),
                   static_cast<const char*>(from) + i * int64_t(sizeof(S)), size_t(n) * sizeof(S));
    }
  }
};
template <int Bits>
struct Part {
  static constexpr int kPer = 8 / Bits;
  static void copy(const void* from, int64_t i, void* to, int64_t k) {
    constexpr unsigned kMask = (1u << Bits) - 1;
    const unsigned v = static_cast<const uint8_t*>(from)[i / kPer] >> (i % kPer * Bits) & kMask;
    uint8_t& byte = static_cast<uint8_t*>(to)[k / kPer];
    const int shift = int(k % kPer) * Bits;
    byte = uint8_t((byte & ~(kMask << shift)) | v << shift);
  }
  static void run(const void* from, int64_t i, void* to, int64_t k, int64_t n) {
    for (int64_t j = 0; j < n; ++j) copy(from, i + j, to, k + j);
  }
};
// Texts may be long: their letters count as turns.
struct TextMove {
  TextAccount account;
  StopCheck<1024 * 1024> stop;
};
thread_local TextMove* t_texts = nullptr;  // the move that is under way, where it moves texts

struct Text {
  static void copy(const void* from, int64_t i, void* to, int64_t k) {
    const std::string& text = static_cast<const std::string*>(from)[i];
    if (t_texts->stop(text.size() + 16) || !t_texts->account.take(text.size())) return;
    static_cast<std::string*>(to)[k] = text;
  }
  static void run(const void* from, int64_t i, void* to, int64_t k, int64_t n) {
    for (int64_t j = 0; j < n; ++j) copy(from, i + j, to, k + j);
  }
};

// Long runs in pieces, so that somebody may stop them: f(where the piece begins, how long it is).
constexpr int64_t kPiece = 256 * 1024;
template <class F>
void in_pieces(int64_t n, F f) {
  for (int64_t at = 0; at < n && (at == 0 || !stop_requested()); at += kPiece)
    f(at, std::min(kPiece, n - at));
}

template <class F>
void by_size(Tensor& to, F f) {
  if (to.type() == DType::string) {
    TextMove texts{TextAccount(to), {}};
    t_texts = &texts;
    f(Text());
    t_texts = nullptr;
    return;
  }
  switch (dtype_bits(to.type())) {
    case 2: return f(Part<2>());
    case 4: return f(Part<4>());
    case 6:
    case 8: return f(Whole<uint8_t>());
    case 16: return f(Whole<uint16_t>());
    case 32: return f(Whole<uint32_t>());
    case 64: return f(Whole<uint64_t>());
    case 128: return f(Whole<Bytes16>());
    default: return;
  }
}

}  // namespace

void move_strided(const Tensor& from, int64_t from_first, std::span<const int64_t> from_strides, Tensor& to,
                  int64_t to_first, std::span<const int64_t> to_strides, std::span<const int64_t> dims) {
  if (product(dims) == 0) return;
  Walk walk;
  walk.dims = Dims(dims);
  walk.strides = {Dims(from_strides), Dims(to_strides)};
  walk.simplify();
  const int64_t rows = product(walk.dims) / walk.inner(), inner = walk.inner();
  const int64_t step_from = walk.strides[0].back(), step_to = walk.strides[1].back();
  const void* source = from.data();
  void* target = to.mutable_data();
  by_size(to, [&](auto size) {
    using Size = decltype(size);
    std::vector<int64_t> offsets{from_first, to_first};
    Dims at(walk.dims.size(), 0);
    StopCheck<kPiece> stop;
    for (int64_t r = 0; r < rows && !stop(size_t(inner)); ++r) {
      in_pieces(inner, [&](int64_t first, int64_t n) {
        if (step_from == 1 && step_to == 1)
          return Size::run(source, offsets[0] + first, target, offsets[1] + first, n);
        for (int64_t k = first; k < first + n; ++k) {
          Size::copy(source, offsets[0] + k * step_from, target, offsets[1] + k * step_to);
        }
      });
      walk.step(at, offsets);
    }
  });
}

void move_run(const Tensor& from, int64_t from_first, Tensor& to, int64_t to_first, int64_t n) {
  if (from.data() == to.data()) {  // may overlap
    by_size(to,
            [&](auto size) { decltype(size)::run(from.data(), from_first, to.mutable_data(), to_first, n); });
    return;
  }
  by_size(to, [&](auto size) {
    in_pieces(n, [&](int64_t first, int64_t count) {
      decltype(size)::run(from.data(), from_first + first, to.mutable_data(), to_first + first, count);
    });
  });
}

void move_each(const Tensor& from, Tensor& to, FunctionRef<int64_t(int64_t)> source,
               const Tensor* otherwise) {
  const int64_t count = to.count();
  void* target = to.mutable_data();
  by_size(to, [&](auto size) {
    using Size = decltype(size);
    StopCheck<4096> stop;
    for (int64_t i = 0; i < count && !stop(); ++i) {
      const int64_t s = source(i);
      if (s >= 0)
        Size::copy(from.data(), s, target, i);
      else if (otherwise)
        Size::copy(otherwise->data(), 0, target, i);
    }
  });
}

void move_chosen(const Walk& walk, const Tensor& condition, const Tensor& yes, const Tensor& no, Tensor& to) {
  if (to.count() == 0) return;
  const auto* holds = static_cast<const uint8_t*>(condition.data());
  const void *a = yes.data(), *b = no.data();
  void* target = to.mutable_data();
  const int64_t inner = walk.inner(), rows = to.count() / inner;
  const int64_t step = walk.strides[0].back(), step_a = walk.strides[1].back(),
                step_b = walk.strides[2].back();
  by_size(to, [&](auto size) {
    using Size = decltype(size);
    std::vector<int64_t> offsets(3, 0);
    Dims at(walk.dims.size(), 0);
    for (int64_t row : turns(rows, size_t(inner))) {
      const int64_t first = offsets[0], first_a = offsets[1], first_b = offsets[2];
      for (int64_t k : turns(inner)) {
        if (holds[first + k * step])
          Size::copy(a, first_a + k * step_a, target, row * inner + k);
        else
          Size::copy(b, first_b + k * step_b, target, row * inner + k);
      }
      walk.step(at, offsets);
    }
  });
}

void fill(Tensor& to, const Tensor& value, int64_t value_index) {
  const int64_t count = to.count();
  void* target = to.mutable_data();
  by_size(to, [&](auto size) {
    in_pieces(count, [&](int64_t first, int64_t n) {
      for (int64_t i = first; i < first + n; ++i) decltype(size)::copy(value.data(), value_index, target, i);
    });
  });
}

void copy_all(const Tensor& from, Tensor& to) {
  move_run(from, 0, to, 0, std::min(from.count(), to.count()));
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || !(a.dims() == b.dims())) return false;
  if (a.type() == DType::string) return std::ranges::equal(a.strings(), b.strings());
  return a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

Result<Tensor> permuted(const Tensor& x, std::span<const size_t> order) {
  const Dims strides = contiguous_strides(x.dims());
  Dims dims, steps;
  for (size_t axis : order) {
    dims.push_back(x.dims()[axis]);
    steps.push_back(strides[axis]);
  }
  SX_ASSIGN(Tensor y, Tensor::allocate(x.type(), dims));
  move_strided(x, 0, steps, y, 0, contiguous_strides(dims), dims);
  return y;
}

}  // namespace sx
