// SPDX-License-Identifier: Apache-2.0
// How much arithmetic a model is: the multiply-adds of its products, with free sizes as symbols.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "onnx/model.h"
#include "tensor/dim.h"

namespace sx::tools {

struct Work {
  Dim flops;                                     // two for each multiply-add
  std::vector<std::pair<std::string, Dim>> ops;  // operator type and its part, the first met first
  std::shared_ptr<DimPool> pool;                 // what the Dims live in

  // "2.10 GFLOP", or "170 MFLOP × batch × seq + 36.9 kFLOP × batch × seq²"
  std::string text() const;
  // The part of an operator type in percent, where that does not depend on free sizes: "97.1%"; else empty.
  std::string share(const std::string& op) const;
};

// Products are MatMul, Gemm, Conv, ConvTranspose, DeformConv, their integer forms, Attention, LSTM, GRU, RNN
// and Einsum; what else a model does is small beside them and not counted. An If counts as its larger branch,
// a Loop or Scan as often as it goes round. An error says what is not known: an operator, or a size that only
// a run can tell. `dims` binds symbols.
Result<Work> count_work(const onnx::Model& model, const std::vector<std::pair<std::string, int64_t>>& dims);

}  // namespace sx::tools
