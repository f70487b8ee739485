// SPDX-License-Identifier: Apache-2.0
// The pool of expressions: equal ones are kept once, with what is known of them.
#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "tensor/dim_bounds.h"

namespace sx {
namespace {

uint64_t hash_of(Dim d) { return d.expr() ? hash_mix(1, d.expr()->id) : hash_mix(2, uint64_t(d.constant())); }

uint64_t hash_of(DimOp op, Dim a, Dim b) {
  return hash_mix(hash_mix(hash_of(a), hash_of(b)), uint64_t(op) + 1);
}

}  // namespace

struct DimPool::State {
  std::deque<DimAtom> atoms;
  std::deque<DimExpr> exprs;
  std::unordered_multimap<uint64_t, const DimExpr*> by_terms;
  std::unordered_multimap<uint64_t, const DimAtom*> by_parts;
  std::unordered_map<std::string, uint32_t> by_name;
  struct Symbol {
    std::string name;
    bool fresh = false;
    const DimAtom* atom = nullptr;
  };
  std::vector<Symbol> symbols;
  struct Outgrown {
    DimOp op;
    Dim a, b, now;
  };
  std::unordered_multimap<uint64_t, Outgrown> outgrown;
  std::vector<uint64_t> seen;  // by atom: the last gathering of parts that met it
  uint64_t gathering = 0;
  uint32_t counter = 0;

  const DimAtom* add_atom(DimAtom atom) {
    atom.id = uint32_t(atoms.size());
    atoms.push_back(atom);
    seen.push_back(0);
    return &atoms.back();
  }

  uint32_t add_symbol(DimPool* pool, std::string name, bool fresh, DimBounds bounds) {
    const uint32_t symbol = uint32_t(symbols.size());
    const DimAtom* atom =
        add_atom({.op = DimOp::symbol, .symbol = symbol, .pool = pool, .bounds = bounds, .fresh = fresh});
    by_name.emplace(name, symbol);
    symbols.push_back({std::move(name), fresh, atom});
    return symbol;
  }

  std::string unused_name(std::string_view hint) {
    std::string name;
    do {
      name = std::string(hint) + "_" + std::to_string(counter++);
    } while (by_name.count(name));
    return name;
  }

  // The distinct atoms below these terms; false if there are too many.
  bool gather_parts(const std::vector<DimTerm>& terms, std::vector<const DimAtom*>& parts) {
    ++gathering;
    auto meet = [&](const DimAtom* a) {
      if (std::exchange(seen[a->id], gathering) != gathering) parts.push_back(a);
      return parts.size() <= kMostParts;
    };
    for (const DimTerm& t : terms) {
      for (const DimAtom* atom : t.atoms) {
        if (seen[atom->id] == gathering) continue;  // its parts were met before it
        for (Dim d : {atom->a, atom->b}) {
          if (!d.expr()) continue;
          for (const DimAtom* part : d.expr()->parts) {
            if (!meet(part)) return false;
          }
        }
        if (!meet(atom)) return false;
      }
    }
    std::sort(parts.begin(), parts.end(), [](auto* x, auto* y) { return x->id < y->id; });
    return true;
  }
};

DimPool::DimPool() : state_(std::make_unique<State>()) {}
DimPool::~DimPool() = default;

Dim DimPool::symbol_at(uint32_t symbol) { return intern({DimTerm{1, {state_->symbols[symbol].atom}}}); }

Dim DimPool::symbol(std::string_view name) {
  const auto it = state_->by_name.find(std::string(name));
  if (it != state_->by_name.end()) return symbol_at(it->second);
  return symbol_at(state_->add_symbol(this, std::string(name), false, {.lower = 0}));
}

Dim DimPool::fresh(std::string_view hint) {
  return symbol_at(state_->add_symbol(this, state_->unused_name(hint), true, {.lower = 0}));
}

Dim DimPool::adopt(const DimPool& other, uint32_t symbol) {
  const State::Symbol& theirs = other.state_->symbols[symbol];
  return symbol_at(state_->add_symbol(this, theirs.name, theirs.fresh, theirs.atom->bounds));
}

size_t DimPool::symbols() const { return state_->symbols.size(); }
const std::string& DimPool::symbol_name(uint32_t symbol) const { return state_->symbols[symbol].name; }
bool DimPool::is_fresh(uint32_t symbol) const { return state_->symbols[symbol].fresh; }

bool DimPool::try_intern(std::vector<DimTerm> terms, Dim& d) {
  d = 0;
  if (terms.empty()) return true;
  if (terms.size() == 1 && terms[0].atoms.empty()) {
    d = terms[0].coefficient;
    return true;
  }
  uint64_t h = 0;
  for (const DimTerm& t : terms) {
    h = hash_mix(h, uint64_t(t.coefficient));
    for (const DimAtom* a : t.atoms) h = hash_mix(h, a->id + 1);
  }
  auto same = [&](const DimExpr& e) {
    return std::equal(e.terms.begin(), e.terms.end(), terms.begin(), terms.end(),
                      [](auto& x, auto& y) { return x.coefficient == y.coefficient && x.atoms == y.atoms; });
  };
  for (auto [it, end] = state_->by_terms.equal_range(h); it != end; ++it) {
    if (same(*it->second)) {
      d.expr_ = it->second;
      return true;
    }
  }
  std::vector<const DimAtom*> parts;
  if (!state_->gather_parts(terms, parts)) return false;
  DimExpr& made = state_->exprs.emplace_back();
  made.pool = this;
  made.id = uint32_t(state_->exprs.size() - 1);
  made.bounds = bounds_of(terms);
  made.fresh = std::any_of(parts.begin(), parts.end(), [](auto* a) { return a->fresh; });
  made.parts = std::move(parts);
  made.terms = std::move(terms);
  state_->by_terms.emplace(h, &made);
  d.expr_ = &made;
  return true;
}

Dim DimPool::intern(std::vector<DimTerm> terms) {
  const DimBounds bounds = bounds_of(terms);
  Dim d;
  return try_intern(std::move(terms), d)
             ? d
             : symbol_at(state_->add_symbol(this, state_->unused_name("u"), true, bounds));
}

Dim DimPool::atom(DimOp op, Dim a, Dim b) {
  const uint64_t h = hash_of(op, a, b);
  for (auto [it, end] = state_->by_parts.equal_range(h); it != end; ++it) {
    const DimAtom& x = *it->second;
    if (x.op == op && x.a == a && x.b == b) return intern({DimTerm{1, {&x}}});
  }
  const DimBounds bounds = sx::bounds_of(op, sx::bounds_of(a), sx::bounds_of(b));
  std::vector<const DimAtom*> parts;
  std::vector<DimTerm> below;
  for (Dim d : {a, b}) {
    if (d.expr()) below.insert(below.end(), d.expr()->terms.begin(), d.expr()->terms.end());
  }
  if (!state_->gather_parts(below, parts) || parts.size() == kMostParts) return outgrown(op, a, b, bounds);
  const DimAtom* made = state_->add_atom({.op = op,
                                          .a = a,
                                          .b = b,
                                          .pool = this,
                                          .bounds = bounds,
                                          .fresh = mentions_fresh(a) || mentions_fresh(b)});
  state_->by_parts.emplace(h, made);
  return intern({DimTerm{1, {made}}});
}

Dim DimPool::outgrown(DimOp op, Dim a, Dim b, DimBounds bounds) {
  if (bounds.lower == bounds.upper) return bounds.lower;
  const uint64_t h = hash_of(op, a, b);
  for (auto [it, end] = state_->outgrown.equal_range(h); it != end; ++it) {
    const State::Outgrown& x = it->second;
    if (x.op == op && x.a == a && x.b == b) return x.now;
  }
  const Dim now = symbol_at(state_->add_symbol(this, state_->unused_name("u"), true, bounds));
  state_->outgrown.emplace(h, State::Outgrown{op, a, b, now});
  return now;
}

}  // namespace sx
