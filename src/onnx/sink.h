// SPDX-License-Identifier: Apache-2.0
// Where the writer puts the bytes of a model, one stretch after the other. Internal to src/onnx.
#pragma once
#include <cstddef>
#include <cstdint>

#include "onnx/model.h"
#include "onnx/write.h"

namespace sx::onnx {

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void put(const uint8_t* data, size_t size) = 0;
};

void emit_model(const ModelProto& model, const WriteOptions& options, Sink& sink);

}  // namespace sx::onnx
