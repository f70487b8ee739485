// SPDX-License-Identifier: Apache-2.0
#include "epilogue_chain.h"

#include <limits>

#include "base/format.h"
#include "graph/op.h"

namespace sx::cpu {
namespace {

using kernels::Activation;

bool scalar_f32(const Graph& graph, ValueId v, float& value) {
  if (v == kNoValue || !graph.value(v).is_constant() || !graph.value(v).constant.is_tensor()) return false;
  const Tensor& t = graph.value(v).constant.tensor;
  if (t.type() != DType::f32 || t.count() != 1) return false;
  value = t.as<float>()[0];
  return true;
}

bool refuse(std::string* why_not, std::string text) {
  if (why_not) *why_not = std::move(text);
  return false;
}

// One value for each channel: [C] broadcast along the channel axis, everything else 1.
bool is_channel_vector(const Shape& shape, size_t axis_from_end, Dim channels) {
  if (!shape.known) return false;
  for (size_t k = 0; k < shape.rank(); ++k) {
    const size_t from_end = shape.rank() - 1 - k;
    if (from_end == axis_from_end ? shape.dims[k] != channels : !shape.dims[k].is_constant(1)) return false;
  }
  return shape.rank() > axis_from_end;
}

}  // namespace

bool activation_of(const Graph& graph, NodeId node, Activation& activation, float& low, float& high) {
  const Node& n = graph.node(node);
  if (!n.op || !n.op->domain.empty()) return false;
  const std::string_view op = n.op->name;
  low = high = 0;
  if (op == "Relu")
    activation = Activation::relu;
  else if (op == "Sigmoid")
    activation = Activation::sigmoid;
  else if (op == "Tanh")
    activation = Activation::tanh;
  else if (op == "HardSwish")
    activation = Activation::hard_swish;
  else if (op == "Softplus")
    activation = Activation::softplus;
  else if (op == "Mish")
    activation = Activation::mish;
  else if (op == "Gelu") {
    activation = n.attrs.text("approximate", "none") == "tanh" ? Activation::gelu_tanh : Activation::gelu;
  } else if (op == "Swish" && n.attrs.floating("alpha", 1.0f) == 1.0f) {
    activation = Activation::silu;
  } else if (op == "LeakyRelu") {
    activation = Activation::leaky_relu;
    low = n.attrs.floating("alpha", 0.01f);
  } else if (op == "Elu") {
    activation = Activation::elu;
    low = n.attrs.floating("alpha", 1.0f);
  } else if (op == "HardSigmoid") {
    activation = Activation::hard_sigmoid;
    low = n.attrs.floating("alpha", 0.2f);
    high = n.attrs.floating("beta", 0.5f);
  } else if (op == "Clip") {
    activation = Activation::clip;
    low = -std::numeric_limits<float>::infinity();
    high = std::numeric_limits<float>::infinity();
    if (n.inputs.size() > 1 && n.inputs[1] != kNoValue && !scalar_f32(graph, n.inputs[1], low)) return false;
    if (n.inputs.size() > 2 && n.inputs[2] != kNoValue && !scalar_f32(graph, n.inputs[2], high)) return false;
  } else {
    return false;
  }
  return true;
}

bool read_epilogue(const Graph& graph, std::span<const NodeId> members, size_t axis, bool has_bias,
                   EpilogueChain& chain, std::vector<ValueId>& operands, std::string* why_not) {
  ValueId result = graph.node(members[0]).outputs[0];
  bool biased = has_bias;
  for (size_t i = 1; i < members.size(); ++i) {
    const Node& n = graph.node(members[i]);
    if (chain.activation != Activation::none)
      return refuse(why_not, "an activation is already the end of the chain");
    const Shape& shape = graph.value(result).type.shape;
    const ValueId next = n.outputs[0];
    if (n.op && n.op->domain.empty() && n.op->name == "Add") {
      const ValueId other = n.inputs[0] == result ? n.inputs[1] : n.inputs[0];
      const ValueInfo& value = graph.value(other);
      if (other == result) return refuse(why_not, "it adds the result to itself");
      if (value.type.elem != DType::f32) return refuse(why_not, "the addend is not float32");
      const bool vector = shape.known && shape.rank() > axis &&
                          is_channel_vector(value.type.shape, axis, shape.dims[shape.rank() - 1 - axis]);
      if (!biased && chain.residual < 0 && vector && value.is_constant()) {
        biased = true;
        chain.bias = int(operands.size());
        chain.text += " +bias";
      } else if (chain.residual < 0 && shape.known && value.type.shape == shape && !value.is_constant()) {
        chain.residual = int(operands.size());
        chain.text += " +add";
      } else {
        return refuse(why_not, "the addend is neither a bias nor of the result's shape");
      }
      operands.push_back(other);
      if (graph.value(next).type.shape != shape) return refuse(why_not, "the addition changes the shape");
    } else if (activation_of(graph, members[i], chain.activation, chain.low, chain.high)) {
      chain.text += format(" +{}", n.op->name);
    } else {
      return refuse(why_not, format("{} is not part of an epilogue", n.op ? n.op->name : "it"));
    }
    result = next;
    ++chain.members;
  }
  return true;
}

Result<EpilogueChain> epilogue_of(const Site& site, size_t axis, bool has_bias) {
  EpilogueChain chain;
  if (!site.body) return chain;
  std::vector<ValueId> operands;
  std::string why_not;
  if (!read_epilogue(site.graph, std::vector<NodeId>(site.body->nodes), axis, has_bias, chain, operands,
                     &why_not)) {
    return error(Code::internal, "a group cannot be compiled: {}", why_not);
  }
  if (chain.bias >= 0) chain.bias = site.operand(operands[size_t(chain.bias)]);
  if (chain.residual >= 0) chain.residual = site.operand(operands[size_t(chain.residual)]);
  return chain;
}

}  // namespace sx::cpu
