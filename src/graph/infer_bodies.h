// SPDX-License-Identifier: Apache-2.0
// Inference of bodies that are asked about again and again, as loops in loops do: what was found out is kept
// while the outermost node is inferred, so that the work grows with the number of bodies, not with the turns.
#pragma once
#include <unordered_map>
#include <vector>

#include "base/function_ref.h"
#include "graph/graph.h"

namespace sx {

// Takes back what inference found out about the nodes of a body and of those inside it.
void forget_inferred(Graph& graph, BodyId body);

class InferBodies {
 public:
  using InferNodes = FunctionRef<Status(BodyId body)>;
  explicit InferBodies(Graph& graph) : graph_(graph) {}

  // The types of the body's outputs where its inputs have the given types. A size that was given differently
  // before becomes a symbol of the body, which stands for every size: the body is inferred with it once, and
  // what is found is told in terms of the sizes that are given.
  Result<std::vector<Type>> infer(BodyId body, std::span<const Type> given, InferNodes infer_nodes);

 private:
  struct Seen {  // a value from outside, as it was when the body was inferred
    ValueId value = kNoValue;
    Type type;
    bool has_elements = false;
    std::vector<Dim> elements;
  };
  struct Known {
    std::vector<Type> inputs, outputs;
    std::vector<Dim> open;  // the symbols that stand for every size
    std::vector<ValueId> captured;
    std::vector<Seen> seen;
    bool done = false;
  };

  Type joined(const Type& have, const Type& given, Known& known);
  std::vector<ValueId> captured(BodyId body) const;
  bool unchanged(const Known& known) const;
  void remember(BodyId body, Known& known) const;
  Status give(BodyId body, std::span<const Type> types);
  std::vector<Type> told(const Known& known, std::span<const Type> given) const;

  Graph& graph_;
  std::unordered_map<BodyId, Known> known_;
};

}  // namespace sx
