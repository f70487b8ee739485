// SPDX-License-Identifier: Apache-2.0
// Writes messages back. A message that was read keeps its field order, its packed or unpacked numbers, its
// padded varints and its unknown fields; only what was changed gets new bytes, and the lengths around it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "onnx/model.h"

namespace sx::onnx {

struct WriteOptions {
  // Forget how the messages were read: field numbers in order, canonical varints, unknown fields dropped.
  bool canonical = false;
};

// Through a temporary file and a rename; large unchanged payloads are copied from file to file by the system.
Status write_model(const Model& model, const std::string& path, const WriteOptions& options = {});

// Changes the model's own file where it lies, if that keeps its length; false if it does not. The bytes that
// change are written one after the other: only a full copy is safe against a machine that stops in the
// middle.
Result<bool> patch_model(const Model& model);
// The mapped files that the model's fields may point into.
std::vector<std::shared_ptr<const MappedFile>> files_of(const Model& model);

template <class M>
uint64_t message_size(const M& message, const WriteOptions& options = {});
template <class M>
std::string message_bytes(const M& message, const WriteOptions& options = {});

}  // namespace sx::onnx
