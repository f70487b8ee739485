// SPDX-License-Identifier: Apache-2.0
// Tensor: an n-dimensional array of any ONNX type, contiguous in row-major order over a shared Buffer.
// View: the same with strides and a layout tag, borrowed; what kernels read and write.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "tensor/buffer.h"
#include "tensor/dims.h"
#include "tensor/dtype.h"

namespace sx {

class Tensor {
 public:
  Tensor() = default;
  static Result<Tensor> allocate(DType type, Dims dims);  // strings start empty, numbers undefined
  static Result<Tensor> zeros(DType type, Dims dims);
  // Over memory that `buffer` holds, `offset` bytes in; checks that it is long enough.
  static Result<Tensor> over(std::shared_ptr<Buffer> buffer, size_t offset, DType type, Dims dims);

  // For constants in code and tests; allocation failure leaves an empty tensor.
  template <class T>
  static Tensor of(DType type, Dims dims, std::span<const T> values);
  static Tensor scalar_i64(int64_t v);
  static Tensor scalar_f32(float v);
  static Tensor vector_i64(std::span<const int64_t> v);
  static Tensor of_strings(Dims dims, std::vector<std::string> values);

  bool defined() const { return type_ != DType::undefined; }
  DType type() const { return type_; }
  const Dims& dims() const { return dims_; }
  size_t rank() const { return dims_.size(); }
  int64_t count() const { return count_; }
  size_t bytes() const { return bytes_; }
  const std::shared_ptr<Buffer>& buffer() const { return buffer_; }

  const void* data() const { return buffer_ ? static_cast<const char*>(buffer_->data()) + offset_ : nullptr; }
  void* mutable_data() {
    return buffer_ && buffer_->writable() ? static_cast<char*>(buffer_->mutable_data()) + offset_ : nullptr;
  }
  // T must be the storage type of the element; sub-byte types are read through the evaluation engines.
  template <class T>
  std::span<const T> as() const {
    return {static_cast<const T*>(data()), size_t(count_)};
  }
  template <class T>
  std::span<T> mutable_as() {
    return {static_cast<T*>(mutable_data()), size_t(count_)};
  }
  template <class T>
  T element(size_t i) const {  // at any address
    T v;
    std::memcpy(&v, static_cast<const char*>(data()) + i * sizeof(T), sizeof(T));
    return v;
  }
  std::span<const std::string> strings() const;
  std::span<std::string> mutable_strings();

  // Weights in a file lie where the bytes before them end: code that reads them as numbers needs them
  // aligned.
  bool aligned() const { return reinterpret_cast<uintptr_t>(data()) % dtype_alignment(type_) == 0; }
  Result<Tensor> align() const;  // itself, or an aligned copy
  // The same elements under other dims of equal count.
  Result<Tensor> reshaped(Dims dims) const;

 private:
  DType type_ = DType::undefined;
  Dims dims_;
  int64_t count_ = 0;
  size_t bytes_ = 0, offset_ = 0;
  std::shared_ptr<Buffer> buffer_;
};

// How a value lies in memory. The logical dims stay as ONNX says; 0 is plain row-major with strides.
struct Layout {
  enum class Kind : uint8_t {
    plain = 0,
    blocked_channels,  // [N, C/b, spatial…, b]: axis 1 cut into blocks of `block`, the tail lanes zero
    provider,          // known only to the provider that offered it; `block` is its own number
  };
  Kind kind = Kind::plain;
  uint16_t block = 0;
  uint32_t owner = 0;  // for Kind::provider: which provider's number it is
  bool operator==(const Layout&) const = default;
  bool plain() const { return kind == Kind::plain; }
};
std::string to_string(const Layout& layout);
// Elements that a tensor of these dims takes in this layout, padding included (plain or blocked_channels).
int64_t padded_count(std::span<const int64_t> dims, const Layout& layout);

struct View {
  DType type = DType::undefined;
  Layout layout;
  void* data = nullptr;  // const for inputs by convention: kernels get `const View&`
  Dims dims;
  Dims strides;  // in elements; empty means contiguous (always so for layouts that are not plain)

  bool defined() const { return type != DType::undefined; }
  int64_t count() const { return product(dims); }
  bool contiguous() const;
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
  template <class T>
  T* as_mutable() const {
    return static_cast<T*>(data);
  }
};
View view_of(const Tensor& t);
View view_of_mutable(Tensor& t);

template <class T>
Tensor Tensor::of(DType type, Dims dims, std::span<const T> values) {
  auto t = allocate(type, std::move(dims));
  if (!t.ok() || t->bytes() != values.size() * sizeof(T)) return {};
  __builtin_memcpy(t->mutable_data(), values.data(), t->bytes());
  return std::move(t).value();
}

}  // namespace sx
