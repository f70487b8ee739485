// SPDX-License-Identifier: Apache-2.0
// How operators become instructions of a pointwise program.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "family.h"
#include "kernels/pointwise.h"

namespace sx::cpu {

enum class PwClass : uint8_t { floating, mask, integer };

struct PwValue {
  kernels::PointwiseBuilder::Value value = kernels::PointwiseBuilder::kNone;
  PwClass kind = PwClass::floating;
  DType type = DType::f32;  // what ONNX calls it: int32 and int64 share a class
};

// Why `node` cannot be an instruction; empty: it can.
std::string pointwise_refuses(const Graph& graph, NodeId node);
// Appends the node's instructions. `in` are its inputs' values; absent ones have kNone.
PwValue append_instructions(kernels::PointwiseBuilder& b, const Graph& graph, NodeId node,
                            std::vector<PwValue> in);
// f(0, …) is 0, so padded lanes stay zero.
bool keeps_zero(const Graph& graph, NodeId node);
bool pointwise_type(DType type, kernels::PwType& t);

}  // namespace sx::cpu
