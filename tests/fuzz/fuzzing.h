// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/mapped_file.h"
#include "onnx/read.h"
#include "onnx/tensor_data.h"
#include "onnx/write.h"

namespace sx {

inline void must(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

inline std::shared_ptr<const MappedFile> input_file(const uint8_t* data, size_t size) {
  return MappedFile::from_bytes("input", data, size);
}

inline std::string canonical(const onnx::ModelProto& model) {
  return onnx::message_bytes<onnx::ModelProto>(model, {.canonical = true});
}

}  // namespace sx
