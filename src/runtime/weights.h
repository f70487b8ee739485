// SPDX-License-Identifier: Apache-2.0
// WeightStore: owns what providers make of a model's weights (packed, transposed, reordered), shared between
// the programs and sessions that ask for the same thing, dropped when nobody uses it.
#pragma once
#include <memory>
#include <string>

#include "base/function_ref.h"
#include "base/parallel.h"
#include "tensor/tensor.h"

namespace sx {

class WeightStaging;

class WeightStore {
 public:
  WeightStore();
  ~WeightStore();
  // The packed form named `kind` (pack kind, vector level and parameters, as text) of `source`'s bytes.
  // `fill` is called once, with memory of `bytes` bytes, where nobody has made it yet. It finds the source's
  // bytes where it is told, not always where the tensor has them.
  Result<std::shared_ptr<const Buffer>> pack(const Tensor& source, const std::string& kind, size_t bytes,
                                             Parallel& parallel,
                                             FunctionRef<Status(const void* source, void* packed)> fill);
  // While somebody holds what this returns, weights of a file are brought to memory before they are packed.
  std::shared_ptr<WeightStaging> stage();
  size_t packed_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sx
