// SPDX-License-Identifier: Apache-2.0
// Dims: concrete sizes or strides of a tensor; eight of them without the heap.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace sx {

class Dims {
 public:
  static constexpr size_t kInline = 8;
  Dims() = default;
  Dims(std::initializer_list<int64_t> v) { assign({v.begin(), v.size()}); }
  explicit Dims(std::span<const int64_t> v) { assign(v); }
  Dims(size_t n, int64_t value) { resize(n, value); }
  Dims(const Dims& o) { assign(o); }
  Dims(Dims&& o) noexcept { steal(o); }
  Dims& operator=(const Dims& o) {
    if (this != &o) assign(o);
    return *this;
  }
  Dims& operator=(Dims&& o) noexcept {
    if (this != &o) {
      free_heap();
      steal(o);
    }
    return *this;
  }
  ~Dims() { free_heap(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return heap_ ? heap_ : inline_; }
  const int64_t* data() const { return heap_ ? heap_ : inline_; }
  int64_t& operator[](size_t i) { return data()[i]; }
  int64_t operator[](size_t i) const { return data()[i]; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  int64_t& back() { return data()[size_ - 1]; }
  int64_t back() const { return data()[size_ - 1]; }
  operator std::span<const int64_t>() const { return {data(), size_}; }

  void assign(std::span<const int64_t> v);
  void resize(size_t n, int64_t value = 0);
  void push_back(int64_t v) { resize(size_ + 1, v); }
  void insert(size_t at, int64_t v);
  void erase(size_t at);
  void clear() { size_ = 0; }
  bool operator==(const Dims& o) const;

 private:
  void free_heap() {
    delete[] heap_;
    heap_ = nullptr;
  }
  void steal(Dims& o);
  void reserve(size_t n);
  size_t size_ = 0, capacity_ = kInline;
  int64_t inline_[kInline];
  int64_t* heap_ = nullptr;
};

// Product of the sizes. False if a size is negative or the product does not fit in int64.
bool element_count(std::span<const int64_t> dims, int64_t& count);
// No element, and beside the zero more positions than a loop should walk for nothing.
bool vast_and_empty(std::span<const int64_t> dims);
int64_t product(std::span<const int64_t> dims);          // of sizes already known to be valid
Dims contiguous_strides(std::span<const int64_t> dims);  // in elements
std::string to_string(std::span<const int64_t> dims);    // "[1, 3, 224]"

}  // namespace sx
