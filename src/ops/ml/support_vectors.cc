// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/support_vectors.h"

#include <algorithm>
#include <cmath>

#include "base/task.h"
#include "ops/ml/columns.h"

namespace sx::ops {

Result<SvmKernel> SvmKernel::of(const Eval& e) {
  SvmKernel k;
  const std::string name = e.text("kernel_type");
  constexpr std::string_view kNames[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return e.fail("kernel_type '{}' is unknown", name);
  k.kind_ = Kind(found - kNames);
  const std::vector<double> params = numbers_of(e.attrs(), "kernel_params");
  if (!params.empty() && params.size() < 3)
    return e.fail("kernel_params has {} numbers, expected 3", params.size());
  if (!params.empty()) k.gamma_ = params[0], k.coef0_ = params[1], k.degree_ = params[2];
  return k;
}

double SvmKernel::operator()(std::span<const double> a, std::span<const double> b) const {
  double sum = 0;
  for (size_t k : turns(a.size())) {
    const double d = a[k] - b[k];
    sum += kind_ == Kind::rbf ? d * d : a[k] * b[k];
  }
  switch (kind_) {
    case Kind::linear: return sum;
    case Kind::poly: return std::pow(gamma_ * sum + coef0_, degree_);
    case Kind::rbf: return std::exp(-gamma_ * sum);
    case Kind::sigmoid: return std::tanh(gamma_ * sum + coef0_);
  }
  return sum;
}

std::vector<double> couple_probabilities(std::span<const double> r, size_t n) {
  // Minimises Σ (r[j,i] p[i] - r[i,j] p[j])² by coordinate steps that keep Σ p = 1.
  std::vector<double> q(n * n), p(n, 1.0 / double(n)), qp(n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      q[i * n + i] += r[j * n + i] * r[j * n + i];
      q[i * n + j] = -r[j * n + i] * r[i * n + j];
    }
  }
  const size_t rounds = std::max<size_t>(100, n);
  for (size_t round = 0; round < rounds; ++round) {
    double pqp = 0, worst = 0;
    for (size_t i = 0; i < n; ++i) {
      qp[i] = 0;
      for (size_t j = 0; j < n; ++j) qp[i] += q[i * n + j] * p[j];
      pqp += p[i] * qp[i];
    }
    for (size_t i = 0; i < n; ++i) worst = std::max(worst, std::abs(qp[i] - pqp));
    if (worst < 0.005 / double(n)) break;
    for (size_t i = 0; i < n; ++i) {
      const double diff = (pqp - qp[i]) / q[i * n + i];
      p[i] += diff;
      pqp = (pqp + diff * (diff * q[i * n + i] + 2 * qp[i])) / (1 + diff) / (1 + diff);
      for (size_t j = 0; j < n; ++j) {
        qp[j] = (qp[j] + diff * q[i * n + j]) / (1 + diff);
        p[j] /= 1 + diff;
      }
    }
  }
  return p;
}

}  // namespace sx::ops
