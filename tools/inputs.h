// SPDX-License-Identifier: Apache-2.0
// Inputs for a run: from files, or random ones that fit the model; outputs into files.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "runtime/session.h"

namespace sx::tools {

struct InputSource {
  std::vector<std::string> named;  // NAME=FILE
  std::string archive;             // FILE.npz
  bool random = false;
  uint64_t seed = 0;
  std::vector<std::pair<std::string, int64_t>> dims;  // sizes for symbols
};

// "batch=4" and the like.
Result<std::pair<std::string, std::string>> split_assignment(const std::string& text);
Result<std::vector<std::pair<std::string, int64_t>>> parse_dims(const std::vector<std::string>& texts);

Result<Value> read_value(const std::string& path, const Type& type);  // .npy, .npz (one member), .pb
Result<std::vector<NamedValue>> gather_inputs(const std::vector<ValueDesc>& inputs,
                                              const InputSource& source);
// One value for each input of the session; an input that is not given stays empty.
Result<std::vector<Value>> in_order(const Session& session, std::vector<NamedValue> feeds);
// Sizes not given are 1 for batch-like symbols and 8 otherwise.
Result<Value> random_value(const ValueDesc& input, uint64_t seed,
                           const std::vector<std::pair<std::string, int64_t>>& dims);
Status write_outputs(const std::vector<ValueDesc>& outputs, const std::vector<Value>& values,
                     const std::string& folder, const std::string& archive);

}  // namespace sx::tools
