// SPDX-License-Identifier: Apache-2.0
// One node against the record of the operator version that its model asks for.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/op.h"

namespace sx::convert {

struct NodeFacts {
  std::vector<const Type*> inputs;  // null: not given
  std::vector<bool> outputs;        // given or not
  const Attrs& attrs;
};
// How many outputs a node of this version has, before those that may be left out at the end.
size_t required_outputs(const OpVersion& version);
// Everything that does not fit: number of inputs and outputs, attributes, element types.
std::vector<std::string> check_node(const OpVersion& version, const NodeFacts& node);
// Element types that were inferred for the outputs and that this version does not have yet; null: not wanted.
std::vector<std::string> check_results(const OpVersion& version, std::span<const Type* const> results);

}  // namespace sx::convert
