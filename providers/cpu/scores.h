// SPDX-License-Identifier: Apache-2.0
// What ONNX-ML's classifiers make of sums: post transforms, the second of two classes, and which class it is.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attrs.h"

namespace sx::cpu {

enum class Post : uint8_t {
  none,
  softmax,
  logistic,
  softmax_zero,
  probit,
  unknown
};  // numbered as TreeEnsemble does
Post post_named(std::string_view name);
// `scores` of one row. With one score only PROBIT changes it.
void transform(Post post, std::span<float> scores);

// How one row of sums becomes scores and a class.
struct Decision {
  size_t classes = 0;
  Post post = Post::none;
  std::vector<float> base;
  bool one_class_weights = false;  // leaves speak of one class alone
  bool all_positive = true;

  // Replaces the sums by the scores; `heard` says which classes any leaf spoke of. Returns the outcome.
  size_t decide(float* sums, const bool* heard) const;

 private:
  size_t decide_two(float* sums, const bool* heard) const;
};

}  // namespace sx::cpu
