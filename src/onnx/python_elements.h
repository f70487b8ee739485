// SPDX-License-Identifier: Apache-2.0
// How a Python script says the elements of tensors: a few in place, many in .npy files beside it. Internal to
// src/onnx.
#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "onnx/model.h"
#include "onnx/python_odd.h"
#include "tensor/tensor.h"

namespace sx::onnx {

class PythonElements {
 public:
  // Lists of more than `largest` elements go into files.
  PythonElements(const Model& model, uint64_t largest) : model_(model), largest_(largest) {}

  // The fields of the tensor that hold its elements: name=value, …
  std::string of(const TensorProto& tensor, const Oddities& odd);
  std::string of_bytes(std::string_view name, std::string_view bytes);
  // The files, by name; to be asked last.
  Result<std::vector<std::pair<std::string, Tensor>>> arrays();

 private:
  std::string of_raw(const TensorProto& tensor);
  template <class T>
  void add_typed(std::string& to, const char* field, const Numbers<T>& numbers, std::string_view tensor);
  std::string loaded(std::string_view name, Result<Tensor> tensor);

  const Model& model_;
  uint64_t largest_;
  std::vector<std::pair<std::string, Tensor>> arrays_;
  std::set<std::string> taken_;
  Status problem_;
};

}  // namespace sx::onnx
