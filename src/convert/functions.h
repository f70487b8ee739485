// SPDX-License-Identifier: Apache-2.0
// Functions: those of a model, found by name, and how many nodes a call of one makes once all is inlined.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "onnx/model.h"

namespace sx::convert {

class Functions {
 public:
  explicit Functions(const std::vector<onnx::FunctionProto>& list);

  const onnx::FunctionProto* find(const onnx::NodeProto& node) const;  // null: not a function of the model
  // The nodes of a call, with those of every call inside it; SIZE_MAX / 2 where it is at least that. An error
  // names a function that calls itself or is defined twice, or calls that are nested too deeply.
  Result<size_t> nodes_made(const onnx::FunctionProto& function);

 private:
  struct Entry {
    const onnx::FunctionProto* function = nullptr;
    size_t nodes = 0;  // 0: not counted yet
    bool open = false;
    bool twice = false;
  };
  Result<size_t> count(Entry& entry, int depth);
  Status count_nodes(const std::vector<onnx::NodeProto>& nodes, int depth, size_t& sum);

  std::unordered_map<std::string, Entry> entries_;
};

std::string function_name(const onnx::FunctionProto& function);  // "domain.name"
size_t count_nodes(const onnx::GraphProto& graph);               // with those of graphs inside it

}  // namespace sx::convert
