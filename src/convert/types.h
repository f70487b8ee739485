// SPDX-License-Identifier: Apache-2.0
// TypeProto to Type and back, and types as the standard spells them.
#pragma once
#include <string>

#include "base/result.h"
#include "graph/type.h"
#include "onnx/model.h"

namespace sx::convert {

// How the sizes of a shape become Dims.
struct DimNames {
  DimPool& pool;
  // Named sizes keep their name, so that equal names mean equal sizes; otherwise every size that is not a
  // number is a new unknown (what a file says about values inside it is not believed that far).
  bool named = false;
  std::string hint = {};  // for sizes without a name: "x" gives x_dim0
};

Result<Type> to_type(const onnx::TypeProto& type, const DimNames& names);
onnx::TypeProto from_type(const Type& type);
std::string standard_name(const Type& type);  // "tensor(float)", "seq(tensor(int64))", without shapes

}  // namespace sx::convert
