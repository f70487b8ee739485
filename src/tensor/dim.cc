// SPDX-License-Identifier: Apache-2.0
// Arithmetic on Dims: every result in its canonical form.
#include <algorithm>

#include "tensor/dim_bounds.h"

namespace sx {
namespace {

// Larger expressions than this become a fresh symbol: inference stays linear on hostile models.
constexpr size_t kMostTerms = 48;
constexpr size_t kMostAtoms = 8;

DimPool* pool_of(Dim a, Dim b) {
  if (a.expr()) return a.expr()->pool;
  return b.expr() ? b.expr()->pool : nullptr;
}

bool atoms_less(const std::vector<const DimAtom*>& x, const std::vector<const DimAtom*>& y) {
  if (x.size() != y.size()) return x.size() > y.size();
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] != y[i]) return x[i]->id < y[i]->id;
  }
  return false;
}

std::vector<DimTerm> terms_of(Dim d) {
  if (d.expr()) return d.expr()->terms;
  if (d.constant() == 0) return {};
  return {DimTerm{d.constant(), {}}};
}

// Merges like terms; false on overflow.
bool canonical(std::vector<DimTerm>& terms) {
  std::sort(terms.begin(), terms.end(), [](auto& x, auto& y) { return atoms_less(x.atoms, y.atoms); });
  size_t n = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (n > 0 && terms[n - 1].atoms == terms[i].atoms) {
      if (__builtin_add_overflow(terms[n - 1].coefficient, terms[i].coefficient, &terms[n - 1].coefficient)) {
        return false;
      }
    } else {
      if (n != i) terms[n] = std::move(terms[i]);
      ++n;
    }
  }
  terms.resize(n);
  std::erase_if(terms, [](const DimTerm& t) { return t.coefficient == 0; });
  return terms.size() <= kMostTerms;
}

// d = factor * rest exactly, for a constant factor > 1 that divides every coefficient.
bool divides_all(Dim d, int64_t factor) {
  for (const DimTerm& t : terms_of(d)) {
    if (t.coefficient % factor != 0) return false;
  }
  return true;
}

// Every term of `a` has all atoms of the single-term divisor `b` and a divisible coefficient.
bool exact_quotient(Dim a, Dim b, std::vector<DimTerm>& quotient) {
  const auto divisor = terms_of(b);
  if (divisor.size() != 1 || divisor[0].coefficient == 0 || divisor[0].coefficient == -1) return false;
  for (const DimTerm& t : terms_of(a)) {
    if (t.coefficient % divisor[0].coefficient != 0) return false;
    DimTerm q{t.coefficient / divisor[0].coefficient, t.atoms};
    for (const DimAtom* atom : divisor[0].atoms) {
      auto it = std::find(q.atoms.begin(), q.atoms.end(), atom);
      if (it == q.atoms.end()) return false;
      q.atoms.erase(it);
    }
    quotient.push_back(std::move(q));
  }
  return true;
}

// The atom that `d` is, and nothing else.
const DimAtom* only_atom(Dim d) {
  if (!d.expr() || d.expr()->terms.size() != 1) return nullptr;
  const DimTerm& t = d.expr()->terms[0];
  return t.coefficient == 1 && t.atoms.size() == 1 ? t.atoms[0] : nullptr;
}

}  // namespace

Dim operator+(Dim a, Dim b) {
  DimPool* pool = pool_of(a, b);
  Dim sum;
  if (!pool) {
    int64_t v = 0;
    const bool fits = !__builtin_add_overflow(a.constant(), b.constant(), &v);
    return fits ? v : a.constant() < 0 ? INT64_MIN : INT64_MAX;
  }
  auto terms = terms_of(a);
  for (DimTerm& t : terms_of(b)) terms.push_back(std::move(t));
  if (canonical(terms) && pool->try_intern(std::move(terms), sum)) return sum;
  return pool->outgrown(DimOp::sum, a, b, add(bounds_of(a), bounds_of(b)));
}

namespace {

// All products of a term of one and a term of the other; false if one cannot be written.
bool expand(Dim a, Dim b, std::vector<DimTerm>& terms) {
  const auto left = terms_of(a), right = terms_of(b);
  for (const DimTerm& x : left) {
    for (const DimTerm& y : right) {
      DimTerm& t = terms.emplace_back();
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &t.coefficient)) return false;
      if (x.atoms.size() + y.atoms.size() > kMostAtoms) return false;
      std::merge(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(), std::back_inserter(t.atoms),
                 [](auto* p, auto* q) { return p->id < q->id; });
    }
  }
  return true;
}

}  // namespace

Dim operator*(Dim a, Dim b) {
  DimPool* pool = pool_of(a, b);
  if (!pool) {
    int64_t p = 0;
    if (!__builtin_mul_overflow(a.constant(), b.constant(), &p)) return p;
    return (a.constant() < 0) == (b.constant() < 0) ? INT64_MAX : INT64_MIN;
  }
  if (a.is_constant(1)) return b;
  if (b.is_constant(1)) return a;
  std::vector<DimTerm> terms;
  Dim product;
  if (expand(a, b, terms) && canonical(terms) && pool->try_intern(std::move(terms), product)) return product;
  return pool->outgrown(DimOp::product, a, b, multiply(bounds_of(a), bounds_of(b)));
}

Dim operator-(Dim a, Dim b) { return a + Dim(-1) * b; }

Dim floordiv(Dim a, Dim b) {
  if (b.is_constant(1)) return a;
  if (b.is_constant(-1)) return Dim(-1) * a;
  DimPool* pool = pool_of(a, b);
  if (!pool) return b.constant() == 0 ? Dim(0) : Dim(floor_div(a.constant(), b.constant()));
  if (a == b && always_positive(a)) return 1;
  std::vector<DimTerm> quotient;
  if (exact_quotient(a, b, quotient) && (b.is_constant() || always_positive(b)) && canonical(quotient)) {
    return pool->intern(std::move(quotient));
  }
  if (b.is_constant() && b.constant() > 1) {
    // Terms whose coefficient the divisor divides come out of the floor.
    std::vector<DimTerm> whole, rest;
    for (const DimTerm& t : terms_of(a)) {
      const int64_t q =
          t.atoms.empty() ? floor_div(t.coefficient, b.constant()) : t.coefficient / b.constant();
      const int64_t r =
          t.atoms.empty() ? floor_mod(t.coefficient, b.constant()) : t.coefficient % b.constant();
      if (r == 0 || t.atoms.empty()) whole.push_back({q, t.atoms});
      if (r != 0) rest.push_back({t.atoms.empty() ? r : t.coefficient, t.atoms});
    }
    std::erase_if(whole, [](const DimTerm& t) { return t.coefficient == 0; });
    if (!whole.empty() && canonical(whole) && canonical(rest)) {
      return pool->intern(std::move(whole)) + floordiv(pool->intern(std::move(rest)), b);
    }
  }
  return pool->atom(DimOp::floordiv, a, b);
}

Dim ceildiv(Dim a, Dim b) { return Dim(-1) * floordiv(Dim(-1) * a, b); }

Dim mod(Dim a, Dim b) {
  if (b.is_constant(1) || b.is_constant(-1)) return 0;
  DimPool* pool = pool_of(a, b);
  if (!pool) return b.constant() == 0 ? Dim(0) : Dim(floor_mod(a.constant(), b.constant()));
  if (a == b) return 0;
  if (b.is_constant() && b.constant() > 1 && divides_all(a, b.constant())) return 0;
  return pool->atom(DimOp::mod, a, b);
}

namespace {

bool never_above(Dim a, Dim b) {
  auto terms = terms_of(b);
  for (DimTerm& t : terms_of(a)) {
    if (__builtin_sub_overflow(int64_t(0), t.coefficient, &t.coefficient)) return false;
    terms.push_back(std::move(t));
  }
  if (canonical(terms)) return bounds_of(terms).lower >= 0;
  return bounds_of(a).upper <= bounds_of(b).lower;
}

}  // namespace

Dim min(Dim a, Dim b) {
  DimPool* pool = pool_of(a, b);
  if (!pool) return std::min(a.constant(), b.constant());
  if (never_above(a, b)) return a;
  if (never_above(b, a)) return b;
  if (a.is_constant(INT64_MAX)) return b;
  if (b.is_constant(INT64_MAX)) return a;
  if (a.is_constant()) std::swap(a, b);
  if (!b.is_constant() && b.expr()->id < a.expr()->id) std::swap(a, b);
  return pool->atom(DimOp::min, a, b);
}

Dim max(Dim a, Dim b) {
  DimPool* pool = pool_of(a, b);
  if (!pool) return std::max(a.constant(), b.constant());
  if (never_above(b, a)) return a;
  if (never_above(a, b)) return b;
  if (a.is_constant()) std::swap(a, b);
  if (!b.is_constant() && b.expr()->id < a.expr()->id) std::swap(a, b);
  return pool->atom(DimOp::max, a, b);
}

namespace {

// Wherever the two sizes fit together their common size is `a`: `a` was broadcast with `b` already, or `b` is
// min(a, n) with n at least 2, which is 1 only where `a` is.
bool broadcast_absorbs(Dim a, Dim b) {
  const DimAtom* in_a = only_atom(a);
  if (in_a && in_a->op == DimOp::broadcast && (in_a->a == b || in_a->b == b)) return true;
  const DimAtom* in_b = only_atom(b);
  if (!in_b || in_b->op != DimOp::min) return false;
  return (in_b->a == a && always_at_least(in_b->b, 2)) || (in_b->b == a && always_at_least(in_b->a, 2));
}

}  // namespace

Dim broadcast(Dim a, Dim b) {
  if (a == b || b.is_constant(1)) return a;
  if (a.is_constant(1)) return b;
  DimPool* pool = pool_of(a, b);
  if (!pool) return a;  // two different constants: the caller reports it
  // A constant other than 1 is the only size that fits; the run-time guard checks the other side.
  if (a.is_constant()) return a;
  if (b.is_constant()) return b;
  if (broadcast_absorbs(a, b)) return a;
  if (broadcast_absorbs(b, a)) return b;
  if (b.expr()->id < a.expr()->id) std::swap(a, b);
  return pool->atom(DimOp::broadcast, a, b);
}

bool always_at_least(Dim a, int64_t least) { return bounds_of(a).lower >= least; }
bool always_positive(Dim a) { return always_at_least(a, 1); }

}  // namespace sx
