// SPDX-License-Identifier: Apache-2.0
#include "tensor/tensor.h"

#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "base/task.h"

namespace sx {
namespace {

Status sizes_of(DType type, const Dims& dims, int64_t& count, size_t& bytes) {
  if (!element_count(dims, count)) {
    return error(Code::invalid_argument, "dims {} are negative or too large", to_string(dims));
  }
  if (type == DType::string) {
    if (!__builtin_mul_overflow(size_t(count), sizeof(std::string), &bytes)) return {};
    return memory_refused(SIZE_MAX, format("string{}", to_string(dims)));
  }
  if (!dtype_bytes(type, uint64_t(count), bytes)) {
    return error(Code::invalid_argument, "{}{} needs more bytes than an address can hold", dtype_name(type),
                 to_string(dims));
  }
  return {};
}

}  // namespace

Result<Tensor> Tensor::allocate(DType type, Dims dims) {
  if (type == DType::undefined) return error(Code::invalid_argument, "a tensor needs an element type");
  Tensor t;
  SX_TRY(sizes_of(type, dims, t.count_, t.bytes_));
  t.type_ = type;
  t.dims_ = std::move(dims);
  auto refused = [&] {
    return memory_refused(t.bytes_, format("{}{}", dtype_name(type), to_string(t.dims_)));
  };
  if (type == DType::string) {
    t.buffer_ = Buffer::strings(size_t(t.count_));
    if (!t.buffer_) return refused();
    SX_TRY(check_stop());  // it may have fewer texts
  } else {
    auto buffer = Buffer::allocate(t.bytes_);
    if (!buffer.ok()) return refused();
    t.buffer_ = std::move(buffer).value();
    // The unused bits of a sub-byte type's last byte are zero, so that equal tensors have equal bytes.
    if (t.bytes_ > 0 && dtype_bits(type) < 8) static_cast<char*>(t.buffer_->mutable_data())[t.bytes_ - 1] = 0;
  }
  return t;
}

Result<Tensor> Tensor::zeros(DType type, Dims dims) {
  SX_ASSIGN(Tensor t, allocate(type, std::move(dims)));
  if (type == DType::string) return t;
  constexpr size_t kPiece = size_t(1) << 24;  // bytes between looks at the stop flag
  auto* bytes = static_cast<char*>(t.mutable_data());
  for (size_t at = 0; at < t.bytes_ && (at == 0 || !stop_requested()); at += kPiece)
    std::memset(bytes + at, 0, std::min(kPiece, t.bytes_ - at));
  return t;
}

Result<Tensor> Tensor::over(std::shared_ptr<Buffer> buffer, size_t offset, DType type, Dims dims) {
  Tensor t;
  SX_TRY(sizes_of(type, dims, t.count_, t.bytes_));
  if (offset > buffer->bytes() || t.bytes_ > buffer->bytes() - offset) {
    return error(Code::invalid_argument, "{}{} needs {} bytes at offset {}, the memory has {}",
                 dtype_name(type), to_string(dims), t.bytes_, offset, buffer->bytes());
  }
  t.type_ = type;
  t.dims_ = std::move(dims);
  t.offset_ = offset;
  t.buffer_ = std::move(buffer);
  return t;
}

Tensor Tensor::scalar_i64(int64_t v) { return of<int64_t>(DType::i64, {}, {&v, 1}); }
Tensor Tensor::scalar_f32(float v) { return of<float>(DType::f32, {}, {&v, 1}); }
Tensor Tensor::vector_i64(std::span<const int64_t> v) {
  return of<int64_t>(DType::i64, Dims{int64_t(v.size())}, v);
}

Tensor Tensor::of_strings(Dims dims, std::vector<std::string> values) {
  auto t = allocate(DType::string, std::move(dims));
  if (!t.ok() || size_t(t->count()) != values.size()) return {};
  for (size_t i = 0; i < values.size(); ++i) t->mutable_strings()[i] = std::move(values[i]);
  return std::move(t).value();
}

std::span<const std::string> Tensor::strings() const { return as<std::string>(); }
std::span<std::string> Tensor::mutable_strings() { return mutable_as<std::string>(); }

Result<Tensor> Tensor::align() const {
  if (aligned()) return *this;
  SX_ASSIGN(Tensor copy, allocate(type_, dims_));
  constexpr size_t kPiece = size_t{1} << 20;
  for (size_t at = 0; at < bytes_; at += kPiece) {
    if (at > 0) SX_TRY(check_stop());
    std::memcpy(static_cast<uint8_t*>(copy.mutable_data()) + at, static_cast<const uint8_t*>(data()) + at,
                std::min(kPiece, bytes_ - at));
  }
  return copy;
}

Result<Tensor> Tensor::reshaped(Dims dims) const {
  int64_t n = 0;
  if (!element_count(dims, n) || n != count_) {
    return error(Code::invalid_argument, "{} elements cannot take the shape {}", count_, to_string(dims));
  }
  Tensor t = *this;
  t.dims_ = std::move(dims);
  return t;
}

std::string to_string(const Layout& layout) {
  switch (layout.kind) {
    case Layout::Kind::plain: return "plain";
    case Layout::Kind::blocked_channels: return format("blocked{}", layout.block);
    case Layout::Kind::provider: return format("own{}", layout.block);
  }
  return "?";
}

int64_t padded_count(std::span<const int64_t> dims, const Layout& layout) {
  if (layout.kind != Layout::Kind::blocked_channels || dims.size() < 2) return product(dims);
  Dims padded(dims);
  padded[1] = (padded[1] + layout.block - 1) / layout.block * layout.block;
  return product(padded);
}

bool View::contiguous() const {
  if (strides.empty()) return true;
  int64_t expected = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] != 1 && strides[i] != expected) return false;
    expected *= dims[i];
  }
  return true;
}

View view_of(const Tensor& t) { return {t.type(), {}, const_cast<void*>(t.data()), t.dims(), {}}; }
View view_of_mutable(Tensor& t) { return {t.type(), {}, t.mutable_data(), t.dims(), {}}; }

}  // namespace sx
