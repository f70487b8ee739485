// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"
#include "capi/handles.h"

using sx::Code;
using sx::error;
using sx::Status;
using sx::capi::given;
using sx::capi::guarded;

namespace {

Status read_dims(sx_dtype type, const int64_t* dims, size_t rank, sx::Dims& result) {
  if (!sx::dtype_is_valid(type)) return error(Code::invalid_argument, "there is no element type {}", type);
  if (rank > 0) SX_TRY(given(dims, "dims"));
  if (rank > 64) return error(Code::invalid_argument, "a rank of {}, expected at most 64", rank);
  result.assign({dims, rank});
  int64_t count = 0;
  if (!sx::element_count(result, count)) {
    return error(Code::invalid_argument, "dims {} are negative or too large", sx::to_string(result));
  }
  return {};
}

Status find_text(const sx_tensor* tensor, size_t index) {
  SX_TRY(given(tensor, "tensor"));
  if (tensor->tensor.type() != sx::DType::string) {
    return error(Code::invalid_argument, "the tensor is {}, expected string",
                 dtype_name(tensor->tensor.type()));
  }
  if (index >= size_t(tensor->tensor.count())) {
    return error(Code::invalid_argument, "index {} of a tensor of {} elements", index,
                 tensor->tensor.count());
  }
  return {};
}

}  // namespace

sx_code sx_tensor_create(sx_dtype type, const int64_t* dims, size_t rank, sx_tensor** tensor) {
  return guarded([&]() -> Status {
    SX_TRY(given(tensor, "tensor"));
    sx::Dims sizes;
    SX_TRY(read_dims(type, dims, rank, sizes));
    SX_ASSIGN(sx::Tensor made, sx::Tensor::allocate(sx::DType(type), std::move(sizes)));
    *tensor = new sx_tensor{std::move(made)};
    return {};
  });
}

sx_code sx_tensor_over(sx_dtype type, const int64_t* dims, size_t rank, void* data, size_t bytes,
                       sx_tensor** tensor) {
  return guarded([&]() -> Status {
    SX_TRY(given(tensor, "tensor"));
    sx::Dims sizes;
    SX_TRY(read_dims(type, dims, rank, sizes));
    if (type == SX_STRING)
      return Status(Code::invalid_argument, "a tensor of strings cannot lie over memory of the caller's");
    if (bytes > 0) SX_TRY(given(data, "data"));
    const sx::DType dtype = sx::DType(type);
    size_t needed = 0;
    if (!sx::dtype_bytes(dtype, uint64_t(sx::product(sizes)), needed) || needed != bytes) {
      return error(Code::invalid_argument, "{}{} takes {} bytes, the memory has {}", dtype_name(dtype),
                   sx::to_string(sizes), needed, bytes);
    }
    SX_ASSIGN(sx::Tensor made,
              sx::Tensor::over(sx::Buffer::wrap(data, bytes, nullptr, true), 0, dtype, std::move(sizes)));
    *tensor = new sx_tensor{std::move(made)};
    return {};
  });
}

void sx_tensor_destroy(sx_tensor* tensor) { delete tensor; }

sx_dtype sx_tensor_type(const sx_tensor* tensor) {
  return tensor ? sx_dtype(tensor->tensor.type()) : SX_UNDEFINED;
}
size_t sx_tensor_rank(const sx_tensor* tensor) { return tensor ? tensor->tensor.rank() : 0; }
const int64_t* sx_tensor_dims(const sx_tensor* tensor) {
  return tensor ? tensor->tensor.dims().data() : nullptr;
}

size_t sx_tensor_bytes(const sx_tensor* tensor) {
  return !tensor || tensor->tensor.type() == sx::DType::string ? 0 : tensor->tensor.bytes();
}

void* sx_tensor_data(const sx_tensor* tensor) {
  if (!tensor || tensor->tensor.type() == sx::DType::string) return nullptr;
  return const_cast<void*>(tensor->tensor.data());
}

sx_code sx_tensor_set_text(sx_tensor* tensor, size_t index, const char* text, size_t size) {
  return guarded([&]() -> Status {
    SX_TRY(find_text(tensor, index));
    if (size > 0) SX_TRY(given(text, "text"));
    if (!tensor->tensor.mutable_data()) return Status(Code::invalid_argument, "the tensor is read-only");
    tensor->tensor.mutable_strings()[index].assign(text ? text : "", size);
    return {};
  });
}

sx_code sx_tensor_text(const sx_tensor* tensor, size_t index, const char** text, size_t* size) {
  return guarded([&]() -> Status {
    SX_TRY(given(text, "text"));
    SX_TRY(given(size, "size"));
    SX_TRY(find_text(tensor, index));
    const std::string& s = tensor->tensor.strings()[index];
    *text = s.c_str();
    *size = s.size();
    return {};
  });
}
