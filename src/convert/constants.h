// SPDX-License-Identifier: Apache-2.0
// Constants of a file: sparse initializers made dense, and the value of a Constant node.
#pragma once
#include "base/result.h"
#include "graph/attrs.h"
#include "tensor/value.h"

namespace sx::convert {

Result<Tensor> densify(const SparseTensor& sparse);
Result<Value> constant_of(const Attrs& attrs);  // the attributes of a Constant node

}  // namespace sx::convert
