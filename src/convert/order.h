// SPDX-License-Identifier: Apache-2.0
// The order in which the nodes of a file can be read: as they stand, or sorted where a name is used before
// the node that makes it.
#pragma once
#include <string_view>
#include <vector>

#include "base/result.h"
#include "onnx/model.h"

namespace sx::convert {

struct NodeOrder {
  std::vector<size_t> order;
  bool sorted = false;                       // the file's own order would not do
  std::vector<std::string_view> duplicates;  // names that two nodes make
};
Result<NodeOrder> order_nodes(const std::vector<onnx::NodeProto>& nodes);

}  // namespace sx::convert
