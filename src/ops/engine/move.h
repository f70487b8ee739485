// SPDX-License-Identifier: Apache-2.0
// Move: elements of any type, strings and sub-byte types too, from one tensor to another, bit for bit.
// Both tensors have the same element type. Strides and offsets count elements; strides may be 0 or negative.
//
//   move_strided(x, 0, strides_of_x_in_output_order, y, 0, contiguous_strides(y.dims()), y.dims());  //
//   Transpose move_run(x, from, y, to, n); // n neighbours move_each(x, y, [&](int64_t i) { return
//   source_of(i); });                                        // y[i] = x[source] fill(y, value_tensor); //
//   one element everywhere
#pragma once
#include <span>

#include "base/function_ref.h"
#include "tensor/tensor.h"

namespace sx {

struct Walk;

// to[to_first + Σ i·to_strides] = from[from_first + Σ i·from_strides] for every index i below dims.
void move_strided(const Tensor& from, int64_t from_first, std::span<const int64_t> from_strides, Tensor& to,
                  int64_t to_first, std::span<const int64_t> to_strides, std::span<const int64_t> dims);
void move_run(const Tensor& from, int64_t from_first, Tensor& to, int64_t to_first, int64_t n);
inline void move_one(const Tensor& from, int64_t from_index, Tensor& to, int64_t to_index) {
  move_run(from, from_index, to, to_index, 1);
}
// Every element of `to` comes from source(its index); a negative source takes element 0 of `otherwise`.
void move_each(const Tensor& from, Tensor& to, FunctionRef<int64_t(int64_t)> source,
               const Tensor* otherwise = nullptr);
// Every element of `to` comes from `yes` where the condition holds, else from `no`. The walk has their
// strides in this order, over the dims of `to`.
void move_chosen(const Walk& walk, const Tensor& condition, const Tensor& yes, const Tensor& no, Tensor& to);
void fill(Tensor& to, const Tensor& value, int64_t value_index = 0);
void copy_all(const Tensor& from, Tensor& to);     // same count, other dims allowed
bool same_bits(const Tensor& a, const Tensor& b);  // type, dims and contents

Result<Tensor> permuted(const Tensor& x,
                        std::span<const size_t> order);  // a transposed copy: axis i is x's order[i]

// Steps through indices below dims in row-major order, one axis at a time from the last.
class Odometer {
 public:
  explicit Odometer(std::span<const int64_t> dims) : dims_(dims), at_(dims.size(), 0) {}
  const Dims& at() const { return at_; }
  // Moves on by one; false after the last index.
  bool next() {
    for (size_t i = dims_.size(); i-- > 0;) {
      if (++at_[i] < dims_[i]) return true;
      at_[i] = 0;
    }
    return false;
  }

 private:
  Dims dims_;
  Dims at_;
};

}  // namespace sx
