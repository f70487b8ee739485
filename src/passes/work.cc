// SPDX-License-Identifier: Apache-2.0
#include "passes/work.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "graph/op.h"
#include "passes/rule.h"

namespace sx::passes {
namespace {

// Operators that may look at every input for every output, or as often as an attribute says. Where they stop
// earlier this is too much: then they are not folded, and the kernels of the run do it.
constexpr std::string_view kSearching[] = {
    "AffineGrid",    "Attention",
    "AveragePool",   "Col2Im",
    "ConvTranspose", "DFT",
    "Det",           "GRU",
    "GridSample",    "LRN",
    "LSTM",          "LpPool",
    "MaxPool",       "MaxRoiPool",
    "MaxUnpool",     "NonMaxSuppression",
    "RNN",           "RegexFullMatch",
    "Resize",        "RoiAlign",
    "STFT",          "TfIdfVectorizer",
    "Upsample",
};

double size_at(const Tensor* t, int64_t axis) {
  const int64_t rank = t ? int64_t(t->rank()) : 0;
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? double(t->dims()[size_t(axis)]) : 1;
}

// Every letter once, at its largest size; what an ellipsis stands for likewise, counted from the last axis.
double einsum_work(const Graph& g, const Node& n) {
  std::string text = n.attrs.text("equation", "");
  std::erase(text, ' ');
  text = text.substr(0, text.find("->"));
  std::map<int, double> sizes;
  auto meet = [&](int label, double size) {
    double& have = sizes.try_emplace(label, 1.0).first->second;
    have = std::max(have, size);
  };
  size_t from = 0;
  for (ValueId v : n.inputs) {
    const std::string term = text.substr(std::min(from, text.size()), text.find(',', from) - from);
    from += term.size() + 1;
    const size_t dots = std::min(term.find("..."), term.size());
    const Tensor* t = constant_of(g, v);
    const int64_t rank = t ? int64_t(t->rank()) : 0;
    const int64_t after = dots < term.size() ? int64_t(term.size() - dots) - 3 : 0;
    for (int64_t k = 0; k < rank; ++k) {
      if (k < int64_t(dots))
        meet(term[size_t(k)], size_at(t, k));
      else if (k >= rank - after)
        meet(term[term.size() - size_t(rank - k)], size_at(t, k));
      else
        meet(int(k - (rank - after)), size_at(t, k));  // below zero: no letter
    }
  }
  double work = 1;
  for (const auto& [label, size] : sizes) work *= size;
  return work;
}

// How often an attribute makes a searching operator look at the same thing.
double repeats(const Node& n) {
  double times = std::max(1.0, double(n.attrs.integer("size", 1)));
  times *= std::max(1.0, std::pow(double(n.attrs.integer("sampling_ratio", 1)), 2));
  for (int64_t k : n.attrs.integers("kernel_shape")) times *= std::max(1.0, double(k));
  return times;
}

}  // namespace

double work_of(const Graph& g, NodeId node, double out) {
  const Node& n = g.node(node);
  auto tensor = [&](size_t i) { return i < n.inputs.size() ? constant_of(g, n.inputs[i]) : nullptr; };
  double in = 0;
  for (size_t i = 0; i < n.inputs.size(); ++i) in += tensor(i) ? double(tensor(i)->count()) : 0;
  if (n.domain.empty()) {
    if (n.type == "Einsum") return in + out + einsum_work(g, n) * double(n.inputs.size());
    if (n.type == "MatMul" || n.type == "MatMulInteger" || n.type == "QLinearMatMul")
      return in + out + out * size_at(tensor(0), -1);
    if (n.type == "Gemm") return in + out + out * size_at(tensor(0), n.attrs.integer("transA", 0) ? 0 : 1);
    const bool conv = n.type == "Conv" || n.type == "ConvInteger";
    if (conv || n.type == "QLinearConv") {
      const Tensor* w = tensor(conv ? 1 : 3);
      return in + out + (w ? out * double(w->count()) / std::max(1.0, size_at(w, 0)) : 0);
    }
    const auto* end = std::end(kSearching);
    if (std::find(std::begin(kSearching), end, n.type) == end) return in + out;
  }
  return std::max(in, 1.0) * std::max(out, 1.0) * repeats(n);
}

}  // namespace sx::passes
