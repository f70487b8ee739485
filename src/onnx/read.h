// SPDX-License-Identifier: Apache-2.0
// Reads ONNX files: a walk over the mapped bytes that checks every length against its enclosing message and
// leaves texts and payloads where they are. Tensor payloads are checked when they are first used
// (tensor_data.h).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/mapped_file.h"
#include "base/result.h"
#include "onnx/model.h"

namespace sx::onnx {

// Messages in messages: a subgraph takes three levels (graph, node, attribute), a sequence type two.
inline constexpr int kMaxDepth = 200;

struct ReadOptions {
  LoadMode load = LoadMode::map;
  // Structures may take this much memory plus four times the size of the file; a file of many empty messages
  // is refused instead of filling the machine.
  uint64_t structure_bytes = uint64_t(1) << 28;
};

Result<std::shared_ptr<Model>> read_model(const std::string& path, const ReadOptions& options = {});
// Over bytes that `file` holds. External data is looked for in `folder`; empty: there is none.
Result<std::shared_ptr<Model>> read_model(std::shared_ptr<const MappedFile> file, const std::string& folder,
                                          const ReadOptions& options = {});

// One message of a kind: TensorProto, SparseTensorProto, SequenceProto, MapProto, OptionalProto, TypeProto,
// GraphProto, NodeProto, FunctionProto. Points into `bytes`.
template <class M>
Result<M> read_message(std::span<const uint8_t> bytes);

}  // namespace sx::onnx
