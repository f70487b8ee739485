// SPDX-License-Identifier: Apache-2.0
// A constant for each channel added to a convolution is its bias.
#include "ops/engine/codec.h"
#include "passes/rule.h"

namespace sx::passes {
namespace {

// Is `t` the same everywhere but along the channels of a value of this rank?
bool along_channels(const Tensor& t, size_t rank, int64_t channels) {
  if (t.rank() > rank || (t.count() != channels && t.count() != 1)) return false;
  if (t.count() == 1) return true;
  const size_t missing = rank - t.rank();
  return missing <= 1 && t.dims()[1 - missing] == channels;
}

Result<Tensor> sum(const Tensor& add, const Tensor* bias, int64_t channels) {
  SX_ASSIGN(Tensor out, Tensor::allocate(add.type(), {channels}));
  const Reader<double> extra(add);
  std::vector<double> old(size_t(channels), 0.0);
  if (bias) decode<double>(bias->type(), bias->data(), 0, 1, size_t(channels), old.data());
  {
    Writer<double> writer(out);
    for (size_t c = 0; c < size_t(channels); ++c) writer[c] = old[c] + extra[extra.size() == 1 ? 0 : c];
  }
  return out;
}

Patch fuse(Graph& g, NodeId n) {
  for (size_t side = 0; side < 2; ++side) {
    const Node& add = g.node(n);
    const Node* conv = producer(g, add.inputs[side], "Conv");
    const Tensor* extra = constant_of(g, add.inputs[1 - side]);
    if (!conv || !extra || !used_once(g, add.inputs[side])) continue;
    const Shape &weight = shape_of(g, conv->inputs[1]), &made = shape_of(g, add.inputs[side]);
    if (!weight.known || !made.known || !weight.dims[0].is_constant()) continue;
    const int64_t channels = weight.dims[0].constant();
    const bool has_bias = conv->inputs.size() > 2 && conv->inputs[2] != kNoValue;
    const Tensor* bias = has_bias ? constant_of(g, conv->inputs[2]) : nullptr;
    if ((has_bias && (!bias || bias->count() != channels)) || !along_channels(*extra, made.rank(), channels))
      continue;
    auto total = sum(*extra, bias, channels);
    if (!total.ok()) continue;
    const std::vector<ValueId> inputs = {conv->inputs[0], conv->inputs[1]};
    const Attrs attrs = conv->attrs;
    const NodeId conv_id = g.value(add.inputs[side]).producer;
    const ValueId y = add.outputs[0];
    Builder b(g, add.body, n);
    Patch patch = Patch::with(y, b.op("Conv", {inputs[0], inputs[1], b.constant(std::move(*total))}, attrs));
    patch.matched = {conv_id, n};
    return patch;
  }
  return {};
}

}  // namespace

Rule fuse_conv_bias() { return rule({"Add"}, fuse); }

}  // namespace sx::passes
