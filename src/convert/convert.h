// SPDX-License-Identifier: Apache-2.0
// Between the file and the graph. to_graph: names become ids, every node is checked against the operator
// version that the model asks for and lifted to the newest one, functions are inlined, types inferred. All
// errors are gathered and reported at once. to_model: a graph as a file, at the lowest opset that says it.
#pragma once
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "graph/graph.h"
#include "onnx/model.h"

namespace sx {

struct Problem {
  Code code = Code::invalid_model;
  std::string where;  // "node 'conv1' (Conv, opset 17)"; empty: the whole model
  std::string message;
};

struct InputDefault {
  std::string name;
  Value value;
};

// The file declares an output of a fixed size where the graph makes it depend on an input's: the model was
// meant for that size, whatever its inputs say. Nothing is assumed; whoever runs the graph may prepare for
// it.
struct SizePromise {
  std::string symbol;
  int64_t size = 0;
};

struct ConvertOptions {
  Log log;  // warnings: an unsorted file, shapes that are not as declared
  size_t most_problems = 100;
  size_t most_inlined = 250'000;  // nodes that calls of functions may add to those that the file holds
  // Opsets and IR versions beyond the newest known ones, and models that name no opset, are errors unless
  // this is true: what they mean can only be guessed.
  bool allow_newer = false;
  // Initializers that the file also lists as inputs: constants by default, so that they can be folded and
  // packed. True: they stay inputs, and `defaults` gets what they are when nobody feeds them.
  bool overridable_initializers = false;
  std::vector<InputDefault>* defaults = nullptr;
  std::vector<SizePromise>* promises = nullptr;
  std::vector<Problem>* problems = nullptr;  // what went wrong, as a list, for tools
};

// Constants point into the file that the model was read from; they keep it open.
Result<Graph> to_graph(const onnx::Model& model, const ConvertOptions& options = {});

// Groups become model-local functions. Payloads of constants are shared with the graph's, not copied.
Result<onnx::Model> to_model(const Graph& graph);

// The newest opset of each domain that this build knows; 0 for other domains.
int newest_opset(std::string_view domain);
inline constexpr int64_t kNewestIr = 14;

}  // namespace sx
