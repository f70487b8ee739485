// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/post_transform.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"

namespace sx::ops {

Result<Post> post_named(std::string_view name) {
  constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  for (size_t k = 0; k < std::size(kNames); ++k) {
    if (name == kNames[k]) return Post(k);
  }
  return error(Code::invalid_model, "post_transform '{}' is unknown", name);
}

double logistic(double x) {
  const double v = 1 / (1 + std::exp(-std::abs(x)));
  return x < 0 ? 1 - v : v;
}

// Winitzki's formula, good to three digits: models are trained and tested with it in every runtime.
static double inverse_erf(double x) {
  const double sign = x < 0 ? -1 : 1;
  const double log = std::log((1 - x) * (1 + x));
  const double v = 2 / (3.14159 * 0.147) + 0.5 * log;
  return sign * std::sqrt(-v + std::sqrt(v * v - 1 / 0.147 * log));
}

double probit(double x) { return 1.41421356 * inverse_erf(2 * x - 1); }

// `zeros`: scores that are zero stay so.
static void softmax(std::vector<double>& scores, bool zeros) {
  const double top = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& s : scores) {
    if (zeros && std::abs(s) <= 1e-7) {
      s *= std::exp(-top);
    } else {
      s = std::exp(s - top);
      sum += s;
    }
  }
  for (double& s : scores) s /= sum;
}

void transform(Post post, std::vector<double>& scores) {
  switch (post) {
    case Post::none: break;
    case Post::softmax: softmax(scores, false); break;
    case Post::softmax_zero: softmax(scores, true); break;
    case Post::logistic:
      for (double& s : scores) s = logistic(s);
      break;
    case Post::probit:
      for (double& s : scores) s = probit(s);
      break;
  }
}

void finish_scores(Post post, std::vector<double>& scores, Second second) {
  if (scores.size() != 1) return transform(post, scores);
  const double s = post == Post::probit ? probit(scores[0]) : scores[0];
  if (second == Second::no) {
    scores = {s};
  } else if (post == Post::logistic) {
    scores = {logistic(-s), logistic(s)};
  } else {
    scores = {second == Second::complement ? 1 - s : -s, s};
  }
}

}  // namespace sx::ops
