// SPDX-License-Identifier: Apache-2.0
#include "tensor/dim.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "base/hash.h"

namespace sx {
namespace {

// Larger expressions than this become a fresh symbol: inference stays linear on hostile models.
constexpr size_t kMostTerms = 48;
constexpr size_t kMostAtoms = 8;
constexpr uint32_t kMostDepth = 32;

uint32_t depth_of(Dim d) {
  uint32_t depth = 0;
  if (d.expr()) {
    for (const DimTerm& t : d.expr()->terms) {
      for (const DimAtom* a : t.atoms) depth = std::max(depth, a->depth);
    }
  }
  return depth;
}

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

int64_t floor_div(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
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
  if (divisor.size() != 1 || divisor[0].coefficient == 0) return false;
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

bool atom_never_negative(const DimAtom& a);

bool never_negative(Dim d) {
  for (const DimTerm& t : terms_of(d)) {
    if (t.coefficient < 0) return false;
    for (const DimAtom* a : t.atoms) {
      if (!atom_never_negative(*a)) return false;
    }
  }
  return true;
}

bool atom_never_negative(const DimAtom& a) {
  switch (a.op) {
    case DimOp::symbol: return true;
    case DimOp::floordiv: return never_negative(a.a) && never_negative(a.b);
    case DimOp::mod: return never_negative(a.b);
    case DimOp::min: return never_negative(a.a) && never_negative(a.b);
    case DimOp::max: return never_negative(a.a) || never_negative(a.b);
    case DimOp::broadcast: return true;
  }
  return false;
}

}  // namespace

struct DimPool::State {
  std::deque<DimAtom> atoms;
  std::deque<DimExpr> exprs;
  std::unordered_multimap<uint64_t, const DimExpr*> by_terms;
  std::unordered_multimap<uint64_t, const DimAtom*> by_parts;
  std::unordered_map<std::string, uint32_t> by_name;
  std::vector<std::string> names;
  std::vector<bool> fresh;
  uint32_t counter = 0;

  const DimAtom* symbol_atom(DimPool* pool, uint32_t symbol) {
    for (auto [it, end] = by_parts.equal_range(symbol); it != end; ++it) {
      if (it->second->op == DimOp::symbol && it->second->symbol == symbol) return it->second;
    }
    atoms.push_back({DimOp::symbol, symbol, {}, {}, pool, uint32_t(atoms.size()), 0});
    by_parts.emplace(symbol, &atoms.back());
    return &atoms.back();
  }
};

DimPool::DimPool() : state_(std::make_unique<State>()) {}
DimPool::~DimPool() = default;

Dim DimPool::symbol_at(uint32_t symbol) { return intern({DimTerm{1, {state_->symbol_atom(this, symbol)}}}); }

Dim DimPool::symbol(std::string_view name) {
  auto [it, added] = state_->by_name.try_emplace(std::string(name), uint32_t(state_->names.size()));
  if (added) {
    state_->names.emplace_back(name);
    state_->fresh.push_back(false);
  }
  return symbol_at(it->second);
}

Dim DimPool::fresh(std::string_view hint) {
  std::string name;
  do {
    name = std::string(hint) + "_" + std::to_string(state_->counter++);
  } while (state_->by_name.count(name));
  const Dim d = symbol(name);
  state_->fresh.back() = true;
  return d;
}

size_t DimPool::symbols() const { return state_->names.size(); }
const std::string& DimPool::symbol_name(uint32_t symbol) const { return state_->names[symbol]; }
bool DimPool::is_fresh(uint32_t symbol) const { return state_->fresh[symbol]; }

Dim DimPool::intern(std::vector<DimTerm> terms) {
  if (terms.empty()) return 0;
  if (terms.size() == 1 && terms[0].atoms.empty()) return terms[0].coefficient;
  uint64_t h = 0;
  for (const DimTerm& t : terms) {
    h = hash_mix(h, uint64_t(t.coefficient));
    for (const DimAtom* a : t.atoms) h = hash_mix(h, a->id + 1);
  }
  auto same = [&](const DimExpr& e) {
    return std::equal(e.terms.begin(), e.terms.end(), terms.begin(), terms.end(),
                      [](auto& x, auto& y) { return x.coefficient == y.coefficient && x.atoms == y.atoms; });
  };
  Dim d;
  for (auto [it, end] = state_->by_terms.equal_range(h); it != end; ++it) {
    if (same(*it->second)) {
      d.expr_ = it->second;
      return d;
    }
  }
  state_->exprs.push_back({std::move(terms), this, uint32_t(state_->exprs.size())});
  state_->by_terms.emplace(h, &state_->exprs.back());
  d.expr_ = &state_->exprs.back();
  return d;
}

Dim DimPool::atom(DimOp op, Dim a, Dim b) {
  auto part = [](Dim d) {
    return d.expr() ? hash_mix(1, d.expr()->id) : hash_mix(2, uint64_t(d.constant()));
  };
  const uint64_t h = hash_mix(hash_mix(part(a), part(b)), uint64_t(op) + 1);
  for (auto [it, end] = state_->by_parts.equal_range(h); it != end; ++it) {
    const DimAtom& x = *it->second;
    if (x.op == op && x.a == a && x.b == b) return intern({DimTerm{1, {&x}}});
  }
  const uint32_t depth = 1 + std::max(depth_of(a), depth_of(b));
  if (depth > kMostDepth) return fresh();
  state_->atoms.push_back({op, 0, a, b, this, uint32_t(state_->atoms.size()), depth});
  state_->by_parts.emplace(h, &state_->atoms.back());
  return intern({DimTerm{1, {&state_->atoms.back()}}});
}

Dim operator+(Dim a, Dim b) {
  DimPool* pool = pool_of(a, b);
  int64_t sum = 0;
  if (!pool) return __builtin_add_overflow(a.constant(), b.constant(), &sum) ? Dim(INT64_MAX) : Dim(sum);
  auto terms = terms_of(a);
  for (DimTerm& t : terms_of(b)) terms.push_back(std::move(t));
  return canonical(terms) ? pool->intern(std::move(terms)) : pool->fresh();
}

Dim operator*(Dim a, Dim b) {
  DimPool* pool = pool_of(a, b);
  int64_t p = 0;
  if (!pool) {
    if (!__builtin_mul_overflow(a.constant(), b.constant(), &p)) return p;
    return (a.constant() < 0) == (b.constant() < 0) ? INT64_MAX : INT64_MIN;
  }
  std::vector<DimTerm> terms;
  for (const DimTerm& x : terms_of(a)) {
    for (const DimTerm& y : terms_of(b)) {
      DimTerm t;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &t.coefficient)) return pool->fresh();
      t.atoms = x.atoms;
      t.atoms.insert(t.atoms.end(), y.atoms.begin(), y.atoms.end());
      if (t.atoms.size() > kMostAtoms) return pool->fresh();
      std::sort(t.atoms.begin(), t.atoms.end(), [](auto* p1, auto* p2) { return p1->id < p2->id; });
      terms.push_back(std::move(t));
    }
  }
  return canonical(terms) ? pool->intern(std::move(terms)) : pool->fresh();
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
      const int64_t r = t.coefficient - q * b.constant();
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
  DimPool* pool = pool_of(a, b);
  if (!pool)
    return b.constant() == 0 ? Dim(0)
                             : Dim(a.constant() - floor_div(a.constant(), b.constant()) * b.constant());
  if (b.is_constant(1) || a == b) return 0;
  if (b.is_constant() && b.constant() > 1 && divides_all(a, b.constant())) return 0;
  return pool->atom(DimOp::mod, a, b);
}

Dim min(Dim a, Dim b) {
  DimPool* pool = pool_of(a, b);
  if (!pool) return std::min(a.constant(), b.constant());
  if (a == b || always_at_least(b - a, 0)) return a;
  if (always_at_least(a - b, 0)) return b;
  // Slices to "the end" write a huge number there.
  if (a.is_constant() && a.constant() >= INT32_MAX) return b;
  if (b.is_constant() && b.constant() >= INT32_MAX) return a;
  if (a.is_constant()) std::swap(a, b);
  if (!b.is_constant() && b.expr()->id < a.expr()->id) std::swap(a, b);
  return pool->atom(DimOp::min, a, b);
}

Dim max(Dim a, Dim b) {
  DimPool* pool = pool_of(a, b);
  if (!pool) return std::max(a.constant(), b.constant());
  if (a == b || always_at_least(a - b, 0)) return a;
  if (always_at_least(b - a, 0)) return b;
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

bool always_at_least(Dim a, int64_t least) {
  if (a.is_constant()) return a.constant() >= least;
  int64_t constant = 0;
  for (const DimTerm& t : a.expr()->terms) {
    if (t.atoms.empty()) {
      constant = t.coefficient;
      continue;
    }
    if (t.coefficient < 0) return false;
    for (const DimAtom* x : t.atoms) {
      if (!atom_never_negative(*x)) return false;
    }
  }
  return constant >= least;
}

bool always_positive(Dim a) { return always_at_least(a, 1); }

Dim DimPool::substitute(Dim d, std::span<const Dim> values, std::span<const bool> given) {
  if (d.is_constant()) return d;
  Dim sum = 0;
  for (const DimTerm& t : d.expr()->terms) {
    Dim p = t.coefficient;
    for (const DimAtom* x : t.atoms) {
      if (x->op == DimOp::symbol) {
        p = p * (x->symbol < given.size() && given[x->symbol] ? values[x->symbol] : symbol_at(x->symbol));
        continue;
      }
      const Dim a = substitute(x->a, values, given), b = substitute(x->b, values, given);
      switch (x->op) {
        case DimOp::floordiv: p = p * floordiv(a, b); break;
        case DimOp::mod: p = p * mod(a, b); break;
        case DimOp::min: p = p * min(a, b); break;
        case DimOp::max: p = p * max(a, b); break;
        default: p = p * broadcast(a, b); break;
      }
    }
    sum = sum + p;
  }
  return sum;
}

namespace {

bool evaluate_atom(const DimAtom& x, std::span<const int64_t> symbols, int64_t& v) {
  if (x.op == DimOp::symbol) {
    if (x.symbol >= symbols.size() || symbols[x.symbol] < 0) return false;
    v = symbols[x.symbol];
    return true;
  }
  int64_t a = 0, b = 0;
  if (!evaluate(x.a, symbols, a) || !evaluate(x.b, symbols, b)) return false;
  switch (x.op) {
    case DimOp::floordiv:
    case DimOp::mod: {
      if (b == 0 || (a == INT64_MIN && b == -1)) return false;
      const int64_t q = floor_div(a, b);
      v = x.op == DimOp::floordiv ? q : a - q * b;
      return true;
    }
    case DimOp::min: v = std::min(a, b); return true;
    case DimOp::max: v = std::max(a, b); return true;
    default: v = a == 1 ? b : a; return a == b || a == 1 || b == 1;
  }
}

}  // namespace

bool evaluate(Dim d, std::span<const int64_t> symbols, int64_t& value) {
  if (d.is_constant()) {
    value = d.constant();
    return true;
  }
  int64_t sum = 0;
  for (const DimTerm& t : d.expr()->terms) {
    int64_t p = t.coefficient;
    for (const DimAtom* x : t.atoms) {
      int64_t v = 0;
      if (!evaluate_atom(*x, symbols, v) || __builtin_mul_overflow(p, v, &p)) return false;
    }
    if (__builtin_add_overflow(sum, p, &sum)) return false;
  }
  value = sum;
  return true;
}

namespace {

std::string atom_text(const DimAtom& x) {
  switch (x.op) {
    case DimOp::symbol: return x.pool->symbol_name(x.symbol);
    case DimOp::floordiv: return "floor((" + to_string(x.a) + ")/(" + to_string(x.b) + "))";
    case DimOp::mod: return "mod(" + to_string(x.a) + ", " + to_string(x.b) + ")";
    case DimOp::min: return "min(" + to_string(x.a) + ", " + to_string(x.b) + ")";
    case DimOp::max: return "max(" + to_string(x.a) + ", " + to_string(x.b) + ")";
    case DimOp::broadcast: return "broadcast(" + to_string(x.a) + ", " + to_string(x.b) + ")";
  }
  return "?";
}

}  // namespace

std::string to_string(Dim d) {
  if (d.is_constant()) return std::to_string(d.constant());
  std::string text;
  for (const DimTerm& t : d.expr()->terms) {
    const bool minus = t.coefficient < 0;
    if (text.empty())
      text += minus ? "-" : "";
    else
      text += minus ? " - " : " + ";
    const uint64_t size = minus ? 0 - uint64_t(t.coefficient) : uint64_t(t.coefficient);
    std::string product = size == 1 && !t.atoms.empty() ? "" : std::to_string(size);
    for (const DimAtom* x : t.atoms) product += (product.empty() ? "" : "*") + atom_text(*x);
    text += product;
  }
  return text;
}

std::string to_string(std::span<const Dim> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + to_string(dims[i]);
  return text + "]";
}

bool Shape::is_constant() const {
  return known && std::all_of(dims.begin(), dims.end(), [](Dim d) { return d.is_constant(); });
}

Shape constant_shape(std::span<const int64_t> dims) {
  return Shape(std::vector<Dim>(dims.begin(), dims.end()));
}
std::string to_string(const Shape& shape) {
  return shape.known ? to_string(std::span<const Dim>(shape.dims)) : "[?]";
}

}  // namespace sx
