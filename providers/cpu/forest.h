// SPDX-License-Identifier: Apache-2.0
// Forest: the trees of an ONNX-ML ensemble as kernels/trees takes them, and which targets a row hears of.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "graph/attrs.h"
#include "kernels/trees.h"

namespace sx::cpu {

struct Forest {
  // The targets that were asked for, then one for each entry of `counted`: more than zero where a leaf spoke
  // of it.
  kernels::TreeSpec spec;
  std::vector<bool> heard;        // by target: every row hears of it
  std::vector<uint32_t> counted;  // targets that some rows hear of and others do not

  // Attributes as TreeEnsembleClassifier and TreeEnsembleRegressor have them; `weights` is "class" or
  // "target".
  static Result<Forest> of_lists(const Attrs& attrs, const std::string& weights, size_t targets);
  // As TreeEnsemble has them.
  static Result<Forest> of_tensors(const Attrs& attrs, size_t targets);
  // Finds out who is heard of. Where rows differ, leaves speak of a counting target too. Trees that loop are
  // left to TreeEnsemble::build to refuse.
  void listen();
};

// Why such attributes are not for float32 trees; empty: they are.
std::string refuse_unless_f32_trees(const Attrs& attrs);
// The list NAME, or the float32 tensor NAME_as_tensor in its place.
std::span<const float> floats_of(const Attrs& attrs, const std::string& name);
const std::vector<std::string>& texts_of(const Attrs& attrs, std::string_view name);

}  // namespace sx::cpu
