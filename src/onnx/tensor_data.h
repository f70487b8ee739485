// SPDX-License-Identifier: Apache-2.0
// From the tensors of a file to sx::Tensor and back: raw, typed or external data of every element type.
// Everything is checked here, at first use: dims, their product, the length of the payload, that only one
// field holds it.
#pragma once
#include <memory>
#include <string>

#include "base/result.h"
#include "onnx/model.h"
#include "tensor/tensor.h"
#include "tensor/value.h"

namespace sx::onnx {

inline constexpr size_t kMaxRank = 255;

// What keeps the payload alive, where external data is, and what to copy.
struct DataSource {
  std::shared_ptr<const void> owner;  // of borrowed bytes; null: payloads are always copied
  ExternalFiles* external = nullptr;
  std::shared_ptr<const MappedFile> file;  // where most borrowed bytes lie; may be null
  // A payload that is not aligned for its element type is copied, unless it is floating-point numbers of
  // several dimensions and so many bytes at least: those are weights, which providers pack from bytes. Who
  // reads numbers asks Tensor::align().
  size_t copy_unaligned_below = size_t(1) << 12;
};
DataSource data_source(const Model& model);

// Bytes lie in memory as sx::Tensor says: sub-byte types packed, float6 one element in a byte (unpacked
// here).
Result<Tensor> to_tensor(const TensorProto& tensor, const DataSource& source);
Result<Tensor> to_tensor(const Model& model, const TensorProto& tensor);
Result<SparseTensor> to_sparse_tensor(const SparseTensorProto& tensor, const DataSource& source);

// The checked dims, type and number of bytes, without touching the payload.
struct TensorInfo {
  DType type = DType::undefined;
  Dims dims;
  int64_t count = 0;
  uint64_t raw_bytes = 0;  // that this tensor takes as raw data; 0 for strings
};
Result<TensorInfo> tensor_info(const TensorProto& tensor);
// Everything that to_tensor checks, without making a tensor.
Status check_tensor(const TensorProto& tensor, const DataSource& source);

// A message that owns its payload as raw_data (strings as string_data).
TensorProto from_tensor(const Tensor& tensor, std::string_view name = {});
SparseTensorProto from_sparse_tensor(const SparseTensor& tensor, std::string_view name = {});

}  // namespace sx::onnx
