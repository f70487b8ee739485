// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file: magic, version, and a Python dictionary as text. Internal to src/onnx.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"

namespace sx::onnx {

struct NpyHeader {
  char kind = 0;                  // numpy's letter: b i u f c U S V
  DType type = DType::undefined;  // undefined for V
  size_t item_bytes = 0;
  bool swapped = false;  // big-endian
  bool fortran = false;
  Dims dims;
  size_t data_offset = 0;
};
Result<NpyHeader> parse_npy_header(std::span<const uint8_t> bytes);
// As numpy writes it, padded so that the data starts at a multiple of 64. `width`: characters of a string.
std::string npy_header(DType type, std::span<const int64_t> dims, size_t width);

struct NpyParts {  // move only: the payload may point into `made`, which keeps its place when it is moved
  std::string header;
  std::vector<uint8_t> made;
  std::span<const uint8_t> payload;
  NpyParts() = default;
  NpyParts(NpyParts&&) = default;
  NpyParts& operator=(NpyParts&&) = default;
};
Result<NpyParts> npy_parts(const Tensor& tensor);

Result<Tensor> parse_npy_bytes(std::span<const uint8_t> bytes, const std::shared_ptr<const void>& owner,
                               DType expected);

}  // namespace sx::onnx
