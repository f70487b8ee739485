// SPDX-License-Identifier: Apache-2.0
// Contract: sums of products: c[b, m, n] (+)= Σ_k a[b, m, k] · b[b, k, n] with any strides, register-blocked.
//
//   return matmul(e, e.in(0), e.in(1), e.out(0));                       // numpy.matmul with broadcast
//   batches
//
//   Product<T> p;                                                       // Gemm: y = aᵀ b
//   p.m = m; p.n = n; p.k = k;
//   p.a = a.data(); p.a_row = 1; p.a_col = m;                           // element (i, j) is a[i*a_row +
//   j*a_col] p.b = b.data(); p.b_row = n; p.b_col = 1; p.c = y.data(); p.c_row = n; p.c_col = 1; contract(p);
//
// T: float, double, int32_t and int64_t (wrap around), uint64_t, complex64, complex128. Truth in float64 is T
// = double.
#pragma once
#include "ops/engine/codec.h"

namespace sx {

template <class T>
struct Product {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  const T* a = nullptr;
  int64_t a_batch = 0, a_row = 0, a_col = 1;
  const T* b = nullptr;
  int64_t b_batch = 0, b_row = 0, b_col = 1;
  T* c = nullptr;
  int64_t c_batch = 0, c_row = 0, c_col = 1;
  bool add = false;  // add to what is in c; else overwrite it
};
template <class T>
void contract(const Product<T>& p);

// numpy.matmul of tensors of one type: 1-D operands are promoted, batch axes broadcast; out has the right
// shape.
Status matmul(Eval& e, const Tensor& a, const Tensor& b, Tensor& out);
// The same on numbers already in a class: dims as the tensors had them. `c` has the elements of the result.
template <class T>
void matmul_numbers(const T* a, std::span<const int64_t> a_dims, const T* b, std::span<const int64_t> b_dims,
                    T* c);

}  // namespace sx
