// SPDX-License-Identifier: Apache-2.0
// Codec: elements of any numeric type as a compute class (f32, f64, i64, u64, c64, c128) and back, rounded
// once. Operators name classes, never the 28 types:
//
//   return with_class<kFloatClasses>(e, e.in(0).type(), [&](auto zero) -> Status {
//     using T = decltype(zero);
//     const Reader<T> x(e.in(0));        // borrowed if the tensor holds T already, decoded otherwise
//     Writer<T> y(e.out(0));             // encoded into the tensor when it goes out of scope
//     for (size_t k : turns(x.size())) y[k] = T(2) * x[k];
//     return {};
//   });
#pragma once
#include <complex>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "base/workspace.h"
#include "graph/eval.h"
#include "tensor/tensor.h"

namespace sx {

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

enum class Class : uint8_t { f32, f64, i64, u64, c64, c128, boolean };  // boolean: only as a result

// Sets of classes that a generic lambda compiles for. bool tensors are of class u64 (0 or 1).
inline constexpr unsigned kFloatClasses = 1u << unsigned(Class::f32) | 1u << unsigned(Class::f64);
inline constexpr unsigned kIntClasses = 1u << unsigned(Class::i64) | 1u << unsigned(Class::u64);
inline constexpr unsigned kComplexClasses = 1u << unsigned(Class::c64) | 1u << unsigned(Class::c128);
inline constexpr unsigned kRealClasses = kFloatClasses | kIntClasses;
inline constexpr unsigned kAllClasses = kRealClasses | kComplexClasses;

// f32 for float32 and narrower floats (f64 if `wide`), f64, i64, u64 (unsigned and bool), c64, c128.
// False for strings and undefined.
bool class_of(DType type, bool wide, Class& c);
inline bool is_wide(const Eval& e) { return e.accumulate == Accumulate::f64; }

template <class T>
constexpr Class class_for();
template <>
constexpr Class class_for<float>() {
  return Class::f32;
}
template <>
constexpr Class class_for<double>() {
  return Class::f64;
}
template <>
constexpr Class class_for<int64_t>() {
  return Class::i64;
}
template <>
constexpr Class class_for<uint64_t>() {
  return Class::u64;
}
template <>
constexpr Class class_for<complex64>() {
  return Class::c64;
}
template <>
constexpr Class class_for<complex128>() {
  return Class::c128;
}
template <>
constexpr Class class_for<bool>() {
  return Class::boolean;
}

// Round half to even always, but for float8e8m0, which Cast may round up or down.
enum class Rounding : uint8_t { nearest, up, down };
struct EncodeOptions {
  bool saturate = true;  // small floats: out of range becomes the largest finite value; else NaN or ∞
  Rounding e8m0 = Rounding::up;
};

// n elements that stand `stride` apart from element `first` on, in the storage of `type`.
// Floats become integers by truncation; integers wrap around; complex numbers lose their imaginary part.
template <class T>
void decode(DType type, const void* data, int64_t first, int64_t stride, size_t n, T* to);
template <class T>
void encode(const T* from, size_t n, DType type, void* data, int64_t first, int64_t stride,
            const EncodeOptions& options = {});

// The class by its number, for engine code that has erased it. `size` is that of one element.
size_t class_size(Class c);
void decode(Class c, DType type, const void* data, int64_t first, int64_t stride, size_t n, void* to);
void encode(Class c, const void* from, size_t n, DType type, void* data, int64_t first, int64_t stride,
            const EncodeOptions& options = {});
// Does the storage of `type` hold values of the class as they are?
bool is_storage_of(DType type, Class c);
bool is_storage_of(const Tensor& t, Class c);  // and is it aligned, too? Weights in a mapped file may not be.

// All elements of a tensor in a class.
template <class T>
class Reader {
 public:
  explicit Reader(const Tensor& t) : keep_(t), size_(size_t(t.count())) {
    if (is_storage_of(t, class_for<T>())) {
      data_ = static_cast<const T*>(t.data());
      return;
    }
    own_.resize(size_);
    decode<T>(t.type(), t.data(), 0, 1, size_, own_.data());
    data_ = own_.data();
  }
  Reader(Reader&& o) noexcept = default;  // a moved vector keeps its memory
  size_t size() const { return size_; }
  const T* data() const { return data_; }
  const T& operator[](size_t i) const { return data_[i]; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  operator std::span<const T>() const { return {data_, size_}; }
  std::span<const T> part(size_t first, size_t n) const { return {data_ + first, n}; }

 private:
  Tensor keep_;
  Workspace<T> own_;
  const T* data_ = nullptr;
  size_t size_ = 0;
};

// Where an output is computed in a class; its contents are undefined until written.
template <class T>
class Writer {
 public:
  explicit Writer(Tensor& t, EncodeOptions options = {})
      : out_(t), options_(options), size_(size_t(t.count())) {
    if (!t.defined()) throw std::logic_error("an output is written before its sizes are known");
    if (is_storage_of(t, class_for<T>())) {
      data_ = static_cast<T*>(t.mutable_data());
    } else {
      own_.resize(size_);
      data_ = own_.data();
    }
  }
  ~Writer() {
    if (!own_.empty()) encode<T>(data_, size_, out_.type(), out_.mutable_data(), 0, 1, options_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  size_t size() const { return size_; }
  T* data() { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  operator std::span<T>() { return {data_, size_}; }
  std::span<T> part(size_t first, size_t n) { return {data_ + first, n}; }
  void fill(T v) {
    for (size_t i : turns(size_)) data_[i] = v;
  }

 private:
  Tensor& out_;
  EncodeOptions options_;
  Workspace<T> own_;
  T* data_ = nullptr;
  size_t size_ = 0;
};

// Like std::copy_n, but somebody may stop it.
template <class T>
void copy_numbers(const T* from, size_t n, T* to) {
  for (size_t k : turns(n)) to[k] = from[k];
}

// One number of a tensor: for scalars, not for loops. Zero where the tensor has no such element.
template <class T>
T number_at(const Tensor& t, int64_t index = 0) {
  T v{};
  if (index < t.count()) decode<T>(t.type(), t.data(), index, 1, 1, &v);
  return v;
}

Status no_class(const Eval& e, DType type);  // the error: "Exp cannot be computed in int32"

// Calls f(T{}) with the class that tensors of `type` are computed in; an error if it is not in the set.
template <unsigned Classes, class F>
Status with_class(const Eval& e, DType type, F&& f) {
  Class c;
  if (class_of(type, is_wide(e), c) && (Classes >> unsigned(c) & 1u)) {
    if constexpr (Classes & 1u << unsigned(Class::f32)) {
      if (c == Class::f32) return f(float());
    }
    if constexpr (Classes & 1u << unsigned(Class::f64)) {
      if (c == Class::f64) return f(double());
    }
    if constexpr (Classes & 1u << unsigned(Class::i64)) {
      if (c == Class::i64) return f(int64_t());
    }
    if constexpr (Classes & 1u << unsigned(Class::u64)) {
      if (c == Class::u64) return f(uint64_t());
    }
    if constexpr (Classes & 1u << unsigned(Class::c64)) {
      if (c == Class::c64) return f(complex64());
    }
    if constexpr (Classes & 1u << unsigned(Class::c128)) {
      if (c == Class::c128) return f(complex128());
    }
  }
  return no_class(e, type);
}

// What a lambda's result is encoded from: bool, int64 (indices found among floats), or the class itself.
template <class R, class T>
using ResultOf = std::conditional_t<std::is_same_v<R, bool>, bool,
                                    std::conditional_t<std::is_same_v<R, int64_t>, int64_t, T>>;

}  // namespace sx
