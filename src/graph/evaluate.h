// SPDX-License-Identifier: Apache-2.0
// Evaluation by the records alone: one node, or a whole graph, on concrete values. Constant folding, tests
// and truth use it; speed is not its business.
#pragma once
#include <span>
#include <vector>

#include "graph/eval.h"
#include "graph/graph.h"

namespace sx {

class Cancel;

struct EvaluateOptions {
  bool widen = false;  // run floating point in float64, whatever the model says: our truth
  const Cancel* cancel = nullptr;
  // Called with each value as it is made, if set.
  FunctionRef<void(ValueId, const Value&)> tap;
};

// `scope` finds values of enclosing bodies, for control flow; null where a node has no bodies. Errors do not
// name the node: the caller knows it.
using FindValue = FunctionRef<const Value*(ValueId)>;
Result<std::vector<Value>> evaluate_node(const Graph& graph, NodeId node, std::span<const Value> inputs,
                                         const EvaluateOptions& options, FindValue scope = {});
// What an operator with bodies asks of whoever runs it.
struct BodyTools {
  Eval::RunBody run;
  std::span<const Type> out_types;
  Eval::InferOutputs infer_outputs;
};
// Lower-level door used by providers: the record, attributes and inputs without a graph.
Result<std::vector<Value>> evaluate_op(const Op& op, const Attrs& attrs, std::span<const Value> inputs,
                                       std::span<const bool> wanted, const EvaluateOptions& options,
                                       const BodyTools& bodies = {});
Result<std::vector<Value>> evaluate_body(const Graph& graph, BodyId body, std::span<const Value> inputs,
                                         const EvaluateOptions& options, FindValue scope = {});
// float32, float16 and bfloat16 as float64, complex64 as complex128, inside sequences and maps too; others
// unchanged.
Result<Value> widen(const Value& value);
Result<std::vector<Value>> evaluate_graph(const Graph& graph, std::span<const Value> inputs,
                                          const EvaluateOptions& options);

}  // namespace sx
