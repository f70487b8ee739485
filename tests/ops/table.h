// SPDX-License-Identifier: Apache-2.0
// Text tables of operator cases (*.test):
//
//   Softmax axis=0                 # from: numpy, float64
//     x f32[2,2]  1 2 / 3 4
//     y f32[2,2]  0.119203 0.119203 / 0.880797 0.880797
//
// A line that starts at the margin opens a case: the operator, perhaps with the version that is meant
// (Softmax-11, ai.onnx.ml.Scaler), then attributes name=value; lists are [1,2], a tensor is f32[2]{1 2}, an
// element type stands for its number. Then come its values in order: outputs are called y, y1, y2 …, every
// other name is an input; texts may stand in quotes; `-` is an input or output that is left out; `const`
// before a name makes it an initializer. One number fills a whole tensor; numbers go on over lines that start
// with `|`. `within 1e-3` sets the tolerance. `not in float64` says that the case is about a narrower type's
// rounding. `error: text` instead of outputs: the case must fail, and say so.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "onnx/model.h"
#include "tensor/value.h"

namespace sx::testing {

struct TableValue {
  std::string name;
  Value value;  // kind none: left out
  bool constant = false;
};

struct TableCase {
  std::string file;
  int line = 0;
  std::string title;  // the opening line
  std::string domain, op;
  int version = 0;  // 0: the newest
  std::vector<std::pair<std::string, std::string>> attrs;
  std::vector<TableValue> inputs, outputs;
  std::string error;    // part of the message that is expected; empty: success
  double within = 0;    // 0: as the type allows
  bool narrow = false;  // not to be run in float64
};

Result<std::vector<TableCase>> read_table(const std::string& path);
// A model of the one node.
Result<onnx::Model> model_of(const TableCase& c);
// "f32[2,2] 1 2 / 3 4", "seq(f32 1; f32[2] 1 2)", "opt()"
Result<Value> parse_value(std::string_view text);
std::string unquoted(std::string_view text);               // without the quotes, if it has them
std::vector<std::string> items_of(std::string_view list);  // of "[1, 2]"

}  // namespace sx::testing
