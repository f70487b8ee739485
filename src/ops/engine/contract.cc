// SPDX-License-Identifier: Apache-2.0
// Panels of both operands are packed, then small tiles of the result are kept in registers while k runs.
// Every sum runs over k in order, so a result does not depend on the tile it falls in.
#include "ops/engine/contract.h"

#include <algorithm>

#include "base/cpu.h"
#include "base/workspace.h"
#include "graph/op.h"
#include "ops/engine/walk.h"

namespace sx {
namespace {

constexpr int64_t kDeep = 64;  // also the longest chain of additions: short ones err less
constexpr int64_t kTall = 128;
constexpr int kRows = 4;
template <class T>
constexpr int kColumns = sizeof(T) >= 16 ? 4 : 8;

// Integers wrap around, so they are multiplied as unsigned ones; complex products are written out, because
// the operator's treatment of infinities costs a call each.
template <class T>
struct Arithmetic {
  using Unit = T;
  static void add_product(T& sum, T a, T b) { sum += a * b; }
};
template <>
struct Arithmetic<int32_t> : Arithmetic<uint32_t> {};
template <>
struct Arithmetic<int64_t> : Arithmetic<uint64_t> {};
template <class F>
struct Arithmetic<std::complex<F>> {
  using Unit = std::complex<F>;
  static void add_product(Unit& sum, Unit a, Unit b) {
    sum = {sum.real() + (a.real() * b.real() - a.imag() * b.imag()),
           sum.imag() + (a.real() * b.imag() + a.imag() * b.real())};
  }
};

// acc[i][j] = Σ_k a[k][i] · b[k][j] over packed panels.
template <class U, int N>
[[gnu::always_inline]] inline void tile(const U* a, const U* b, int64_t depth, U* acc) {
  U sum[kRows][N] = {};
  for (int64_t k = 0; k < depth; ++k) {
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < N; ++j) Arithmetic<U>::add_product(sum[i][j], a[k * kRows + i], b[k * N + j]);
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < N; ++j) acc[i * N + j] = sum[i][j];
  }
}

template <class U, int N>
void tile_plain(const U* a, const U* b, int64_t depth, U* acc) {
  tile<U, N>(a, b, depth, acc);
}
#if defined(__x86_64__)
// Wider registers, the same operations in the same order: the same bits.
template <class U, int N>
[[gnu::target("avx2")]] void tile_avx2(const U* a, const U* b, int64_t depth, U* acc) {
  tile<U, N>(a, b, depth, acc);
}
#endif

template <class U, int N>
using Tile = void (*)(const U*, const U*, int64_t, U*);

template <class U, int N>
Tile<U, N> best_tile() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return tile_avx2<U, N>;
#endif
  return tile_plain<U, N>;
}

template <class U>
struct Operands {
  const U* a;
  const U* b;
  U* c;
};

template <class T>
class Panels {
 public:
  using U = typename Arithmetic<T>::Unit;
  static constexpr int kN = kColumns<U>;

  explicit Panels(const Product<T>& p) : p_(p), run_(best_tile<U, kN>()) {
    a_.resize(size_t(kTall * kDeep));
    b_.resize(size_t((p.n + kN - 1) / kN * kN * std::min(p.k, kDeep)));
  }

  void run(const Operands<U>& o) {
    for (int64_t k0 = 0; k0 < p_.k && !stop_(); k0 += kDeep) {
      const int64_t depth = std::min(kDeep, p_.k - k0);
      pack_b(o.b, k0, depth);
      for (int64_t m0 = 0; m0 < p_.m && !stop_(kTall); m0 += kTall) {
        const int64_t tall = std::min(kTall, p_.m - m0);
        pack_a(o.a, m0, tall, k0, depth);
        multiply(o.c, m0, tall, depth, p_.add || k0 > 0);
      }
    }
  }

 private:
  void pack_a(const U* a, int64_t m0, int64_t tall, int64_t k0, int64_t depth) {
    for (int64_t i0 = 0; i0 < tall; i0 += kRows) {
      U* to = a_.data() + i0 * depth;
      for (int64_t i = 0; i < kRows; ++i) {
        const U* from = a + (m0 + i0 + i) * p_.a_row + k0 * p_.a_col;
        const bool inside = i0 + i < tall;
        for (int64_t k = 0; k < depth; ++k) to[k * kRows + i] = inside ? from[k * p_.a_col] : U(0);
      }
    }
  }
  void pack_b(const U* b, int64_t k0, int64_t depth) {
    for (int64_t n0 = 0; n0 < p_.n && !stop_(size_t(depth)); n0 += kN) {
      U* to = b_.data() + n0 * depth;
      const int64_t wide = std::min<int64_t>(kN, p_.n - n0);
      for (int64_t k = 0; k < depth; ++k) {
        const U* from = b + (k0 + k) * p_.b_row + n0 * p_.b_col;
        for (int64_t j = 0; j < wide; ++j) to[k * kN + j] = from[j * p_.b_col];
        for (int64_t j = wide; j < kN; ++j) to[k * kN + j] = U(0);
      }
    }
  }
  void multiply(U* c, int64_t m0, int64_t tall, int64_t depth, bool add) {
    U acc[kRows * kN];
    for (int64_t n0 = 0; n0 < p_.n && !stop_(size_t(tall * depth)); n0 += kN) {
      const int64_t wide = std::min<int64_t>(kN, p_.n - n0);
      for (int64_t i0 = 0; i0 < tall; i0 += kRows) {
        run_(a_.data() + i0 * depth, b_.data() + n0 * depth, depth, acc);
        for (int64_t i = 0; i < std::min<int64_t>(kRows, tall - i0); ++i) {
          U* to = c + (m0 + i0 + i) * p_.c_row + n0 * p_.c_col;
          for (int64_t j = 0; j < wide; ++j) {
            U& t = to[j * p_.c_col];
            t = add ? t + acc[i * kN + j] : acc[i * kN + j];
          }
        }
      }
    }
  }

  const Product<T>& p_;
  Tile<U, kN> run_;
  std::vector<U> a_;
  Workspace<U> b_;
  StopCheck<64 * 1024> stop_;
};

template <class T>
void clear(const Product<T>& p) {
  for (int64_t b : turns(p.batch, size_t(p.m * p.n))) {
    for (int64_t i : turns(p.m, size_t(p.n))) {
      for (int64_t j : turns(p.n)) p.c[b * p.c_batch + i * p.c_row + j * p.c_col] = T(0);
    }
  }
}

}  // namespace

template <class T>
void contract(const Product<T>& p) {
  if (p.batch <= 0 || p.m <= 0 || p.n <= 0) return;
  if (p.k <= 0) {
    if (!p.add) clear(p);
    return;
  }
  using U = typename Panels<T>::U;
  Panels<T> panels(p);
  StopCheck<256> stop;
  for (int64_t b = 0; b < p.batch && !stop(); ++b) {
    panels.run({reinterpret_cast<const U*>(p.a + b * p.a_batch),
                reinterpret_cast<const U*>(p.b + b * p.b_batch), reinterpret_cast<U*>(p.c + b * p.c_batch)});
  }
}

template <class T>
void matmul_numbers(const T* a, std::span<const int64_t> a_dims, const T* b, std::span<const int64_t> b_dims,
                    T* c) {
  Dims left(a_dims), right(b_dims);
  if (left.size() == 1) left.insert(0, 1);
  if (right.size() == 1) right.push_back(1);
  Product<T> p;
  p.m = left[left.size() - 2];
  p.k = left.back();
  p.n = right.back();
  p.a_row = p.k;
  p.b_row = p.n;
  p.c_row = p.n;
  left.resize(left.size() - 2);
  right.resize(right.size() - 2);
  Walk walk;
  walk.dims = Dims(std::max(left.size(), right.size()), 1);
  for (size_t i = 0; i < walk.dims.size(); ++i) {
    const int64_t x = i < left.size() ? left[left.size() - 1 - i] : 1;
    const int64_t y = i < right.size() ? right[right.size() - 1 - i] : 1;
    walk.dims[walk.dims.size() - 1 - i] = x == 1 ? y : x;
  }
  walk.strides.resize(2);
  if (!broadcast_strides(left, walk.dims, walk.strides[0])) return;
  if (!broadcast_strides(right, walk.dims, walk.strides[1])) return;
  const int64_t batches = product(walk.dims);
  walk.simplify();
  p.batch = walk.inner();
  p.a_batch = walk.strides[0].back() * p.m * p.k;
  p.b_batch = walk.strides[1].back() * p.k * p.n;
  p.c_batch = p.m * p.n;
  std::vector<int64_t> offsets(2, 0);
  Dims at(walk.dims.size(), 0);
  StopCheck<16> stop;
  for (int64_t done = 0; done < batches && !stop(); done += p.batch) {
    p.a = a + offsets[0] * p.m * p.k;
    p.b = b + offsets[1] * p.k * p.n;
    p.c = c + done * p.m * p.n;
    contract(p);
    walk.step(at, offsets);
  }
}

Status matmul(Eval& e, const Tensor& a, const Tensor& b, Tensor& out) {
  if (a.rank() == 0 || b.rank() == 0) return e.fail("{} does not take scalars", e.op().name);
  const int64_t k = b.dims()[b.rank() == 1 ? 0 : b.rank() - 2];
  if (a.dims().back() != k) {
    return e.fail("{}: {} and {} have no common inner size", e.op().name, to_string(a.dims()),
                  to_string(b.dims()));
  }
  return with_class<kAllClasses>(e, a.type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> x(a), y(b);
    Writer<T> z(out);
    matmul_numbers(x.data(), a.dims(), y.data(), b.dims(), z.data());
    return {};
  });
}

#define SX_CONTRACT(T)                       \
  template void contract(const Product<T>&); \
  template void matmul_numbers(const T*, std::span<const int64_t>, const T*, std::span<const int64_t>, T*);
SX_CONTRACT(float)
SX_CONTRACT(double)
SX_CONTRACT(int32_t)
SX_CONTRACT(int64_t)
SX_CONTRACT(uint64_t)
SX_CONTRACT(complex64)
SX_CONTRACT(complex128)
#undef SX_CONTRACT

}  // namespace sx
