// SPDX-License-Identifier: Apache-2.0
// Renames values, nodes and symbolic dimensions of a model, everywhere they are spoken of and nowhere else.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "onnx/model.h"

namespace sx::onnx {

struct Rename {
  enum class What { value, node, dimension };
  What what = What::value;
  std::string from, to;
};

// How many places changed. Refuses a name that does not exist, and one that would join two things into one. A
// name that an inner graph defines again is that graph's own. All renames are checked before the first is
// done.
Result<size_t> rename(ModelProto& model, const std::vector<Rename>& renames);

}  // namespace sx::onnx
