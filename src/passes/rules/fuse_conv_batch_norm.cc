// SPDX-License-Identifier: Apache-2.0
// BatchNormalization after a convolution with constant weights moves into the weights and the bias.
#include <cmath>

#include "ops/engine/codec.h"
#include "passes/rule.h"

namespace sx::passes {
namespace {

struct Folded {
  Tensor weight, bias;
};

Result<Folded> fold(const Tensor& w, const Tensor* b, const Graph& g, const Node& norm) {
  const Reader<double> weight(w), scale(*constant_of(g, norm.inputs[1])),
      shift(*constant_of(g, norm.inputs[2]));
  const Reader<double> mean(*constant_of(g, norm.inputs[3])), var(*constant_of(g, norm.inputs[4]));
  const double epsilon = double(norm.attrs.floating("epsilon", 1e-5f));
  const size_t channels = size_t(w.dims()[0]), each = channels ? weight.size() / channels : 0;
  Folded out;
  SX_ASSIGN(out.weight, Tensor::allocate(w.type(), w.dims()));
  SX_ASSIGN(out.bias, Tensor::allocate(w.type(), {int64_t(channels)}));
  std::vector<double> old_bias(channels, 0.0);
  if (b) decode<double>(b->type(), b->data(), 0, 1, channels, old_bias.data());
  {
    Writer<double> new_weight(out.weight), new_bias(out.bias);
    for (size_t c = 0; c < channels; ++c) {
      const double factor = scale[c] / std::sqrt(var[c] + epsilon);
      for (size_t k = 0; k < each; ++k) new_weight[c * each + k] = weight[c * each + k] * factor;
      new_bias[c] = (old_bias[c] - mean[c]) * factor + shift[c];
    }
  }
  return out;
}

bool one_a_channel(const Graph& g, ValueId v, int64_t channels) {
  const Tensor* t = constant_of(g, v);
  return t && t->rank() == 1 && t->count() == channels;
}

Patch fuse(Graph& g, NodeId n) {
  const Node& norm = g.node(n);
  if (norm.attrs.integer("training_mode", 0) != 0 || norm.inputs.size() != 5) return {};
  const Node* conv = producer(g, norm.inputs[0], "Conv");
  const Tensor* w = conv ? constant_of(g, conv->inputs[1]) : nullptr;
  if (!w || w->rank() < 3 || !used_once(g, norm.inputs[0])) return {};
  const int64_t channels = w->dims()[0];
  for (size_t i = 1; i < 5; ++i) {
    if (!one_a_channel(g, norm.inputs[i], channels)) return {};
  }
  const bool has_bias = conv->inputs.size() > 2 && conv->inputs[2] != kNoValue;
  if (has_bias && !one_a_channel(g, conv->inputs[2], channels)) return {};
  auto folded = fold(*w, has_bias ? constant_of(g, conv->inputs[2]) : nullptr, g, norm);
  if (!folded.ok()) return {};
  const ValueId x = conv->inputs[0], y = norm.outputs[0];
  const NodeId conv_id = g.value(norm.inputs[0]).producer;
  const Attrs attrs = conv->attrs;
  Builder b(g, norm.body, n);
  const ValueId weight = b.constant(std::move(folded->weight)), bias = b.constant(std::move(folded->bias));
  Patch patch = Patch::with(y, b.op("Conv", {x, weight, bias}, attrs));
  patch.matched = {conv_id, n};
  return patch;
}

}  // namespace

Rule fuse_conv_batch_norm() { return rule({"BatchNormalization"}, fuse); }

}  // namespace sx::passes
