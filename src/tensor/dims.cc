// SPDX-License-Identifier: Apache-2.0
#include "tensor/dims.h"

#include <algorithm>
#include <cstring>

namespace sx {

void Dims::reserve(size_t n) {
  if (n <= capacity_) return;
  const size_t capacity = std::max(n, capacity_ * 2);
  auto* grown = new int64_t[capacity];
  std::copy_n(data(), size_, grown);
  free_heap();
  heap_ = grown;
  capacity_ = capacity;
}

void Dims::steal(Dims& o) {
  size_ = o.size_;
  capacity_ = o.capacity_;
  heap_ = o.heap_;
  if (!heap_) std::copy_n(o.inline_, std::min(size_, kInline), inline_);
  o.heap_ = nullptr;
  o.size_ = 0;
  o.capacity_ = kInline;
}

void Dims::assign(std::span<const int64_t> v) {
  reserve(v.size());
  std::copy(v.begin(), v.end(), data());
  size_ = v.size();
}

void Dims::resize(size_t n, int64_t value) {
  reserve(n);
  if (n > size_) std::fill(data() + size_, data() + n, value);
  size_ = n;
}

void Dims::insert(size_t at, int64_t v) {
  resize(size_ + 1);
  std::copy_backward(begin() + at, end() - 1, end());
  data()[at] = v;
}

void Dims::erase(size_t at) {
  std::copy(begin() + at + 1, end(), begin() + at);
  --size_;
}

bool Dims::operator==(const Dims& o) const {
  return size_ == o.size_ && std::equal(begin(), end(), o.begin());
}

bool element_count(std::span<const int64_t> dims, int64_t& count) {
  count = 1;
  bool zero = false, fits = true;
  for (int64_t d : dims) {
    if (d < 0) return false;
    if (d == 0)
      zero = true;
    else if (__builtin_mul_overflow(count, d, &count)) {
      fits = false;
      count = 1;
    }
  }
  if (zero) count = 0;
  return zero || fits;
}

bool vast_and_empty(std::span<const int64_t> dims) {
  double positions = 1;
  bool empty = false;
  for (int64_t d : dims) {
    if (d == 0)
      empty = true;
    else
      positions *= double(d);
  }
  return empty && positions > 1e6;
}

// Sizes beside a zero may be as large as they like, so both wrap around: nobody uses what they then say.
int64_t product(std::span<const int64_t> dims) {
  uint64_t n = 1;
  for (int64_t d : dims) n *= uint64_t(d);
  return int64_t(n);
}

Dims contiguous_strides(std::span<const int64_t> dims) {
  Dims s(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) s[i - 1] = int64_t(uint64_t(s[i]) * uint64_t(dims[i]));
  return s;
}

std::string to_string(std::span<const int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

}  // namespace sx
