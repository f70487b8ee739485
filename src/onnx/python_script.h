// SPDX-License-Identifier: Apache-2.0
// A model as a Python script that rebuilds it with the onnx package: python SCRIPT.py OUT.onnx. Large tensors
// lie beside the script as .npy files.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "onnx/model.h"
#include "tensor/tensor.h"

namespace sx::onnx {

struct PythonScript {
  std::string text;
  std::vector<std::pair<std::string, Tensor>> arrays;  // file name in the folder of arrays, elements
};

// `folder` is the name of the folder beside the script that the arrays go to. Refuses texts that are not
// UTF-8: the package cannot set them. Unknown fields are left out.
Result<PythonScript> python_script(const Model& model, const std::string& folder,
                                   uint64_t largest_inline = 64);

}  // namespace sx::onnx
