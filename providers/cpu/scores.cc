// SPDX-License-Identifier: Apache-2.0
#include "scores.h"

#include <algorithm>
#include <cmath>

namespace sx::cpu {
namespace {

double logistic(double x) {
  const double v = 1 / (1 + std::exp(-std::abs(x)));
  return x < 0 ? 1 - v : v;
}

// With Winitzki's inverse of the error function, as every runtime computes it.
double probit(double p) {
  const double x = 2 * p - 1, log = std::log((1 - x) * (1 + x));
  const double v = 2 / (3.14159 * 0.147) + 0.5 * log;
  return 1.41421356 * (x < 0 ? -1 : 1) * std::sqrt(-v + std::sqrt(v * v - 1 / 0.147 * log));
}

// `zeros`: scores that are zero stay so.
void softmax(std::span<float> scores, bool zeros) {
  const double top = *std::max_element(scores.begin(), scores.end());
  auto is_zero = [&](float s) { return zeros && std::abs(double(s)) <= 1e-7; };
  double sum = 0;
  for (float s : scores) sum += is_zero(s) ? 0 : std::exp(s - top);
  for (float& s : scores) s = float((is_zero(s) ? s * std::exp(-top) : std::exp(s - top)) / sum);
}

}  // namespace

Post post_named(std::string_view name) {
  constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  return Post(std::find(std::begin(kNames), std::end(kNames), name) - kNames);
}

void transform(Post post, std::span<float> scores) {
  if (post == Post::none || (scores.size() == 1 && post != Post::probit)) return;
  if (post == Post::softmax || post == Post::softmax_zero) return softmax(scores, post == Post::softmax_zero);
  for (float& s : scores) s = float(post == Post::logistic ? logistic(s) : probit(s));
}

size_t Decision::decide(float* sums, const bool* heard) const {
  if (classes == 2) return decide_two(sums, heard);
  size_t outcome = 0;
  if (classes == 1) {
    if (!base.empty()) sums[0] += base[0];
    outcome = sums[0] > 0;
  } else {
    bool found = false;
    for (size_t k = 0; k < classes; ++k) {
      if (!base.empty()) sums[k] += base[k];
      if (base.empty() && !heard[k]) continue;
      if (!found || sums[k] > sums[outcome]) outcome = k;
      found = true;
    }
  }
  transform(post, {sums, classes});
  return outcome;
}

size_t Decision::decide_two(float* sums, const bool* heard) const {
  bool both = true;  // else there is one score, of which the other class is made
  if (base.size() == 2 && heard[1]) {
    sums[1] = base[1] + sums[0];
    sums[0] = heard[0] ? -sums[1] : 0;
  } else {
    if (!base.empty() && heard[0]) sums[0] += base[0];
    both = base.size() == 2 || heard[1];
  }
  const float weight = both && heard[1] ? sums[1] : sums[0];
  const size_t outcome = weight > (one_class_weights && all_positive ? 0.5f : 0.0f);
  if (both) {
    transform(post, {sums, 2});
    return outcome;
  }
  const double s = post == Post::probit ? probit(sums[0]) : double(sums[0]);
  const double other = one_class_weights && all_positive ? 1 - s : -s;
  sums[0] = float(post == Post::logistic ? logistic(-s) : other);
  sums[1] = float(post == Post::logistic ? logistic(s) : s);
  return outcome;
}

}  // namespace sx::cpu
