// SPDX-License-Identifier: Apache-2.0
#include "passes/norm.h"

#include <algorithm>

namespace sx::passes {
namespace {

bool mean_axis(const Graph& g, const Node& mean, size_t rank, size_t& axis) {
  std::vector<int64_t> axes;
  if (mean.attrs.integer("keepdims", 1) != 1 || mean.inputs.size() < 2 ||
      !constant_ints(g, mean.inputs[1], axes)) {
    return false;
  }
  for (int64_t& a : axes) a += a < 0 ? int64_t(rank) : 0;
  std::sort(axes.begin(), axes.end());
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != int64_t(rank - axes.size() + i)) return false;
  }
  axis = rank - axes.size();
  return !axes.empty();
}

}  // namespace

bool normal_axis(const Match& m, std::initializer_list<std::string_view> means,
                 std::initializer_list<std::string_view> weights, size_t& axis) {
  const Graph& g = m.graph;
  const Shape& x = shape_of(g, m["x"]);
  if (!x.known || x.rank() == 0 || !dtype_is_float(elem_of(g, m["x"]))) return false;
  bool first = true;
  for (std::string_view label : means) {
    size_t found = 0;
    const Node* mean = m.node(label);
    if (!mean || !mean_axis(g, *mean, x.rank(), found) || (!first && found != axis)) return false;
    axis = found;
    first = false;
  }
  return std::all_of(weights.begin(), weights.end(), [&](std::string_view name) {
    const Shape& w = shape_of(g, m[name]);
    if (w.rank() > x.rank() - axis || elem_of(g, m[name]) != elem_of(g, m["x"])) return false;
    return std::equal(w.dims.rbegin(), w.dims.rend(), x.dims.rbegin());
  });
}

Attrs norm_attrs(const Match& m, size_t axis) {
  Attrs attrs{{"axis", int64_t(axis) - int64_t(shape_of(m.graph, m["x"]).rank())},
              {"epsilon", float(m.number("epsilon"))}};
  if (elem_of(m.graph, m["x"]) == DType::f64) attrs.set("stash_type", int64_t(DType::f64));
  return attrs;
}

}  // namespace sx::passes
