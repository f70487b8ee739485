// SPDX-License-Identifier: Apache-2.0
// The post transforms of ONNX-ML's scores, as onnxruntime computes them: with one score only PROBIT changes
// it, and a second class may be made of it.
#pragma once
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sx::ops {

enum class Post : uint8_t { none, softmax, logistic, softmax_zero, probit };  // numbered as TreeEnsemble does
Result<Post> post_named(std::string_view name);

double logistic(double x);
double probit(double x);
void transform(Post post, std::vector<double>& scores);

// How one score becomes two: not at all, (1 - s, s), or (-s, s).
enum class Second : uint8_t { no, complement, negative };
void finish_scores(Post post, std::vector<double>& scores, Second second);

}  // namespace sx::ops
