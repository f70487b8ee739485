// SPDX-License-Identifier: Apache-2.0
// Forest: the trees of a tree ensemble, whichever of the three operators wrote them.
#pragma once
#include <string_view>
#include <vector>

#include "graph/attrs.h"
#include "ops/ml/columns.h"

namespace sx::ops {

struct Forest {
  enum class Mode : uint8_t {
    leq,
    lt,
    gte,
    gt,
    eq,
    neq,
    member,
    leaf
  };  // the first seven as TreeEnsemble numbers them
  struct Node {
    Mode mode = Mode::leaf;
    bool missing_is_true = false;  // NaN takes the true branch
    uint32_t feature = 0;
    uint32_t yes = 0, no = 0;  // node indices; of a leaf: the first of its weights, and how many
    double value = 0;          // threshold; of a member node: the first of its values, and `count` of them
    uint32_t first_value = 0, value_count = 0;
  };
  struct Weight {
    uint32_t target = 0;
    double value = 0;
  };
  enum class Aggregate : uint8_t { average, sum, min, max };  // as TreeEnsemble numbers them

  std::vector<Node> nodes;
  std::vector<uint32_t> roots;
  std::vector<Weight> weights;
  std::vector<double> members;
  uint32_t features = 0;  // one more than the greatest feature that is asked for

  // Attributes as TreeEnsembleClassifier and TreeEnsembleRegressor have them; `weights` is "class" or
  // "target".
  static Result<Forest> of_lists(const Attrs& attrs, const std::string& weights, size_t targets);
  // As TreeEnsemble has them.
  static Result<Forest> of_tensors(const Attrs& attrs, size_t targets);

  // The leaf that a row falls into; null where the nodes form a ring.
  const Node* leaf(uint32_t root, const double* row) const;
  std::span<const Weight> weights_of(const Node& leaf) const { return {weights.data() + leaf.yes, leaf.no}; }
  // Adds up all trees for a row; `seen` says which targets any leaf spoke of.
  Status score(const double* row, Aggregate aggregate, std::vector<double>& sums,
               std::vector<bool>& seen) const;
  // Sums are rounded to float32 at each step, as onnxruntime adds: five votes of 0.1f are 0.5 and no more.
  bool single = true;
  double plus(double a, double b) const { return single ? double(float(a + b)) : a + b; }
};

// Attributes that both list forms share, from ai.onnx.ml 1 or, with tensors in place of lists, 3.
std::vector<AttrDef> forest_attrs(bool tensors, std::initializer_list<AttrDef> more);

}  // namespace sx::ops
