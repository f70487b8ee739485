// SPDX-License-Identifier: Apache-2.0
// The chain behind a product or a convolution as an epilogue: bias, residual, one activation, in that order.
#pragma once
#include "family.h"
#include "kernels/epilogue.h"

namespace sx::cpu {

struct EpilogueChain {
  int bias = -1;      // operand of the step; a constant with one value for each channel (or column)
  int residual = -1;  // operand of the step, of the result's shape
  kernels::Activation activation = kernels::Activation::none;
  float low = 0, high = 0;
  size_t members = 0;  // of the group, the anchor not counted
  std::string text;    // "+bias +add +relu"
};

// Reads the chain of a group whose members are `members` (in a body or still in the graph). `channel_axis`
// counts from the end of the result's shape. False where a member cannot be said this way; `why_not` then
// says so.
bool read_epilogue(const Graph& graph, std::span<const NodeId> members, size_t channel_axis_from_end,
                   bool has_bias, EpilogueChain& chain, std::vector<ValueId>& operands, std::string* why_not);
// The same for a compiled group, with operands numbered as in the step.
Result<EpilogueChain> epilogue_of(const Site& site, size_t channel_axis_from_end, bool has_bias);
// The activation that a node is; false if it is none.
bool activation_of(const Graph& graph, NodeId node, kernels::Activation& activation, float& low, float& high);

}  // namespace sx::cpu
