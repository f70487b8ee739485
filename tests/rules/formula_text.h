// SPDX-License-Identifier: Apache-2.0
// Graphs from the small syntax of the rule tests, and back:
//
//   y = Mul(Mul(x, 0.5), Add(1.0, Erf(Div(x, 1.4142135))))
//   t = Transpose<perm=[0, 2, 1]>(x); y = MatMul(t, w)
//
// A number is a scalar of the element type of the declared inputs (float32 otherwise), [1, -1] a vector of
// int64, a name an input, a weight, or something made before.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace sx::testing {

struct Declaration {
  std::string name;
  DType type = DType::f32;
  std::vector<std::string> dims;  // numbers, or names of sizes
  bool weight = false;            // a constant with contents drawn at random
};

Result<Declaration> parse_declaration(std::string_view line);  // "x f32[N, 3]", "w const f32[3]"
Result<Graph> parse_formula(const std::vector<Declaration>& declared, std::string_view text);
// The formula of the first output, in one canonical spelling.
std::string formula_of(const Graph& graph);

Tensor random_tensor(DType type, const Dims& dims, uint64_t seed);

}  // namespace sx::testing
