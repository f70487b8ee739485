// SPDX-License-Identifier: Apache-2.0
#include "runtime/copy_view.h"

#include <algorithm>
#include <cstring>

#include "base/task.h"

namespace sx {
namespace {

constexpr size_t kPiece = size_t(1) << 22;  // bytes between looks at the stop flag

void copy_bytes(char* to, const char* from, size_t bytes) {
  for (size_t at = 0; at < bytes && (at == 0 || !stop_requested()); at += kPiece)
    std::memcpy(to + at, from + at, std::min(kPiece, bytes - at));
}

void copy_strided(const char* from, const int64_t* from_strides, char* to, const int64_t* to_strides,
                  const int64_t* dims, size_t rank, size_t bytes, StopCheck<>& stop) {
  if (rank == 0) {
    std::memcpy(to, from, bytes);
    return;
  }
  if (rank == 1 && from_strides[0] == 1 && to_strides[0] == 1) {
    copy_bytes(to, from, bytes * size_t(dims[0]));
    return;
  }
  for (int64_t i = 0; i < dims[0] && !stop(); ++i) {
    copy_strided(from + i * from_strides[0] * int64_t(bytes), from_strides + 1,
                 to + i * to_strides[0] * int64_t(bytes), to_strides + 1, dims + 1, rank - 1, bytes, stop);
  }
}

}  // namespace

size_t contiguous_bytes(const View& v) {
  size_t bytes = 0;
  dtype_bytes(v.type, uint64_t(padded_count(v.dims, v.layout)), bytes);
  return bytes;
}

void copy_view(const View& from, const View& to) {
  if (std::find(from.dims.begin(), from.dims.end(), 0) != from.dims.end()) return;  // other axes may be long
  if (from.contiguous() && to.contiguous()) {
    const size_t bytes = contiguous_bytes(from);
    if (bytes > 0 && from.data != to.data) copy_bytes(to.as_mutable<char>(), from.as<char>(), bytes);
    return;
  }
  const Dims a = from.strides.empty() ? contiguous_strides(from.dims) : from.strides;
  const Dims b = to.strides.empty() ? contiguous_strides(to.dims) : to.strides;
  StopCheck<> stop;
  copy_strided(from.as<char>(), a.data(), to.as_mutable<char>(), b.data(), from.dims.data(), from.dims.size(),
               size_t(dtype_bits(from.type) / 8), stop);
}

Result<Tensor> tensor_from_view(const View& v) {
  if (v.contiguous()) {
    return Tensor::over(Buffer::wrap(v.data, contiguous_bytes(v), nullptr, true), 0, v.type, v.dims);
  }
  SX_ASSIGN(Tensor t, Tensor::allocate(v.type, v.dims));
  copy_view(v, view_of_mutable(t));
  return t;
}

}  // namespace sx
