// SPDX-License-Identifier: Apache-2.0
// A model as a Python script that rebuilds it with the onnx package: python SCRIPT.py OUT.onnx. Repeated
// layers are loops; large tensors lie beside the script as .npy files.
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
  // File name in the folder of arrays, elements; these may point into the model.
  std::vector<std::pair<std::string, Tensor>> arrays;
  // Files of external data, which the script copies from FOLDER/data to where it writes the model.
  std::vector<std::string> data_files;
};

// `folder` is the name of the folder beside the script that the arrays go to.
Result<PythonScript> python_script(const Model& model, const std::string& folder,
                                   uint64_t largest_inline = 64);

}  // namespace sx::onnx
