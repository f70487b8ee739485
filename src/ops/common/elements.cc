// SPDX-License-Identifier: Apache-2.0
#include "ops/common/elements.h"

namespace sx::ops {
namespace {

// Contents are followed in the types that models compute shapes in.
bool carries_sizes(DType t) { return t == DType::i64 || t == DType::i32; }

// a[k] and b[k] under broadcasting of vectors and scalars; false if the lengths do not fit.
bool common_length(const std::vector<Dim>& a, const std::vector<Dim>& b, size_t& n) {
  n = a.size() == 1 ? b.size() : a.size();
  return b.size() == n || b.size() == 1;
}

}  // namespace

std::optional<Dim> exact_sum(Dim a, Dim b) {
  int64_t v = 0;
  if (!a.is_constant() || !b.is_constant()) return a + b;
  return __builtin_add_overflow(a.constant(), b.constant(), &v) ? std::nullopt : std::optional<Dim>(v);
}

std::optional<Dim> exact_difference(Dim a, Dim b) {
  int64_t v = 0;
  if (!a.is_constant() || !b.is_constant()) return a - b;
  return __builtin_sub_overflow(a.constant(), b.constant(), &v) ? std::nullopt : std::optional<Dim>(v);
}

std::optional<Dim> exact_product(Dim a, Dim b) {
  int64_t v = 0;
  if (!a.is_constant() || !b.is_constant()) return a * b;
  return __builtin_mul_overflow(a.constant(), b.constant(), &v) ? std::nullopt : std::optional<Dim>(v);
}

Status infer_arithmetic(Infer& i, DimFold fold) {
  SX_TRY(infer_broadcast(i));
  if (!carries_sizes(i.elem(0)) || !i.elements(0)) return {};
  std::vector<Dim> sum = *i.elements(0);
  for (size_t k = 1; k < i.inputs(); ++k) {
    const std::vector<Dim>* next = i.elements(k);
    size_t n = 0;
    if (!next || !common_length(sum, *next, n)) return {};
    std::vector<Dim> folded(n);
    for (size_t j = 0; j < n; ++j) {
      const auto d = fold(sum[sum.size() == 1 ? 0 : j], (*next)[next->size() == 1 ? 0 : j]);
      if (!d) return {};
      folded[j] = *d;
    }
    sum = std::move(folded);
  }
  i.set_elements(0, std::move(sum));
  return {};
}

Status infer_arithmetic_unary(Infer& i, std::optional<Dim> (*map)(Dim a)) {
  SX_TRY(infer_same(i));
  if (!carries_sizes(i.elem(0)) || !i.elements(0)) return {};
  std::vector<Dim> mapped;
  for (Dim d : *i.elements(0)) {
    const auto m = map(d);
    if (!m) return {};
    mapped.push_back(*m);
  }
  i.set_elements(0, std::move(mapped));
  return {};
}

Status infer_comparison(Infer& i, std::optional<bool> (*decide)(Dim a, Dim b)) {
  SX_TRY(infer_broadcast_bool(i));
  if (!carries_sizes(i.elem(0))) return {};
  const std::vector<Dim>*a = i.elements(0), *b = i.elements(1);
  size_t n = 0;
  if (!a || !b || !common_length(*a, *b, n)) return {};
  std::vector<Dim> answers(n);
  for (size_t k = 0; k < n; ++k) {
    const auto answer = decide((*a)[a->size() == 1 ? 0 : k], (*b)[b->size() == 1 ? 0 : k]);
    if (!answer) return {};
    answers[k] = *answer ? 1 : 0;
  }
  i.set_elements(0, std::move(answers));
  return {};
}

Status require_spreads(Infer& i, const Shape& small, const Shape& to, std::string_view what) {
  if (!small.known || !to.known) return {};
  bool fits = small.rank() <= to.rank();
  for (size_t k = 0; fits && k < small.rank(); ++k) {
    const Dim a = small.dims[k], b = to.dims[to.rank() - small.rank() + k];
    fits = !a.is_constant() || !b.is_constant() || a == b || a.is_constant(1);
  }
  if (!fits) return i.fail("{}: {} does not spread over {}", what, to_string(small), to_string(to));
  SX_TRY(i.broadcast(to, small, what));
  return {};
}

std::optional<bool> decide_equal(Dim a, Dim b) {
  if (a == b) return true;
  if (always_positive(a - b) || always_positive(b - a)) return false;
  return {};
}

std::optional<bool> decide_less(Dim a, Dim b) {
  if (always_positive(b - a)) return true;
  if (always_at_least(a - b, 0)) return false;
  return {};
}

}  // namespace sx::ops
