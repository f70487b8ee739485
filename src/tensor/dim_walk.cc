// SPDX-License-Identifier: Apache-2.0
// Walks over expressions: substitution, evaluation, text. Each meets a shared part once.
#include <algorithm>
#include <array>

#include "base/format.h"
#include "tensor/dim_bounds.h"

namespace sx {

Dim Substitution::rebuilt(const DimAtom& atom) {
  if (atom.op == DimOp::symbol) {
    const bool replace = atom.symbol < given_.size() && given_[atom.symbol];
    return replace ? values_[atom.symbol] : pool_.symbol_at(atom.symbol);
  }
  const Dim a = atom.a.expr() ? sum_of(*atom.a.expr()) : atom.a;
  const Dim b = atom.b.expr() ? sum_of(*atom.b.expr()) : atom.b;
  switch (atom.op) {
    case DimOp::floordiv: return floordiv(a, b);
    case DimOp::mod: return mod(a, b);
    case DimOp::min: return min(a, b);
    case DimOp::max: return max(a, b);
    default: return broadcast(a, b);
  }
}

// Once all parts of the expression are rebuilt.
Dim Substitution::sum_of(const DimExpr& expr) {
  const auto [it, added] = exprs_.try_emplace(&expr, Dim());
  if (!added) return it->second;
  Dim sum = 0;
  for (const DimTerm& t : expr.terms) {
    Dim product = t.coefficient;
    for (const DimAtom* atom : t.atoms) product = product * atoms_.at(atom);
    sum = sum + product;
  }
  return exprs_[&expr] = sum;
}

Dim Substitution::operator()(Dim d) {
  if (d.is_constant()) return d;
  const auto& parts = d.expr()->parts;
  const bool changes = std::any_of(parts.begin(), parts.end(), [&](const DimAtom* a) {
    return a->op == DimOp::symbol && a->symbol < given_.size() && given_[a->symbol];
  });
  if (!changes) return d;
  for (const DimAtom* atom : parts) {
    if (!atoms_.contains(atom)) atoms_.emplace(atom, rebuilt(*atom));
  }
  return sum_of(*d.expr());
}

Dim DimPool::substitute(Dim d, std::span<const Dim> values, std::span<const bool> given) {
  return Substitution(*this, values, given)(d);
}

namespace {

bool apply(DimOp op, int64_t a, int64_t b, int64_t& v) {
  switch (op) {
    case DimOp::floordiv:
    case DimOp::mod: {
      if (b == 0 || (a == INT64_MIN && b == -1)) return false;
      v = op == DimOp::floordiv ? floor_div(a, b) : floor_mod(a, b);
      return true;
    }
    case DimOp::min: v = std::min(a, b); return true;
    case DimOp::max: v = std::max(a, b); return true;
    default: v = a == 1 ? b : a; return a == b || a == 1 || b == 1;
  }
}

// `value_of(atom, v)` tells the value of an atom, where it has one.
template <class ValueOf>
bool sum_of(Dim d, int64_t& sum, ValueOf&& value_of) {
  sum = d.constant();
  if (d.is_constant()) return true;
  sum = 0;
  for (const DimTerm& t : d.expr()->terms) {
    int64_t product = t.coefficient;
    for (const DimAtom* atom : t.atoms) {
      int64_t v = 0;
      if (!value_of(*atom, v) || __builtin_mul_overflow(product, v, &product)) return false;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return false;
  }
  return true;
}

template <class ValueOf>
bool compute(const DimAtom& atom, std::span<const int64_t> symbols, int64_t& v, ValueOf&& value_of) {
  if (atom.op == DimOp::symbol) {
    if (atom.symbol >= symbols.size() || symbols[atom.symbol] < 0) return false;
    v = symbols[atom.symbol];
    return true;
  }
  int64_t a = 0, b = 0;
  return sum_of(atom.a, a, value_of) && sum_of(atom.b, b, value_of) && apply(atom.op, a, b, v);
}

}  // namespace

bool evaluate(Dim d, std::span<const int64_t> symbols, int64_t& value) {
  value = d.constant();
  if (d.is_constant()) return true;
  const auto& parts = d.expr()->parts;
  std::array<int64_t, DimPool::kMostParts> values;
  auto value_of = [&](const DimAtom& atom, int64_t& v) {
    const auto it = std::lower_bound(parts.begin(), parts.end(), atom.id,
                                     [](const DimAtom* x, uint32_t id) { return x->id < id; });
    v = values[size_t(it - parts.begin())];
    return true;
  };
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!compute(*parts[i], symbols, values[i], value_of)) return false;
  }
  return sum_of(d, value, value_of);
}

std::string why_no_size(Dim d, std::span<const int64_t> symbols) {
  DimValues values(symbols);
  int64_t v = 0, a = 0, b = 0;
  if (values.value(d, v)) return format("it is {}", v);
  for (const DimAtom* atom : d.expr()->parts) {
    if (atom->op == DimOp::symbol) {
      if (compute(*atom, symbols, v, [](const DimAtom&, int64_t&) { return false; })) continue;
      return format("{} is not known", atom->pool->symbol_name(atom->symbol));
    }
    if (!values.value(atom->a, a) || !values.value(atom->b, b)) break;
    if (apply(atom->op, a, b, v)) continue;
    return atom->op == DimOp::broadcast ? format("{} and {} do not broadcast", a, b)
                                        : format("{} cannot be divided by {}", a, b);
  }
  return "it is too large";
}

bool DimValues::value(Dim d, int64_t& value) {
  value = d.constant();
  if (d.is_constant()) return true;
  enum : uint8_t { open, found, none };
  const auto& parts = d.expr()->parts;
  if (parts.back()->id >= states_.size()) {
    states_.resize(parts.back()->id + 1, open);
    values_.resize(parts.back()->id + 1);
  }
  auto value_of = [&](const DimAtom& atom, int64_t& v) {
    v = values_[atom.id];
    return states_[atom.id] == found;
  };
  for (const DimAtom* atom : parts) {
    if (states_[atom->id] != open) continue;
    states_[atom->id] = compute(*atom, symbols_, values_[atom->id], value_of) ? found : none;
  }
  return sum_of(d, value, value_of);
}

namespace {

// Text that stops growing at some length: written out, shared parts can be exponentially many.
class DimText {
 public:
  void add(Dim d) {
    if (d.is_constant()) return add(std::to_string(d.constant()));
    bool first = true;
    for (const DimTerm& t : d.expr()->terms) {
      if (full()) return;
      const bool minus = t.coefficient < 0;
      add(first ? (minus ? "-" : "") : minus ? " - " : " + ");
      add(t);
      first = false;
    }
  }
  // What was cut off ends in the number of its expression, so that different ones stay different.
  std::string text(Dim d) && {
    if (full())
      text_ = text_.substr(0, whole_characters(kMostCharacters)) + "…#" + std::to_string(d.expr()->id);
    return std::move(text_);
  }

 private:
  static constexpr size_t kMostCharacters = 200;
  bool full() const { return text_.size() > kMostCharacters; }
  void add(std::string_view part) { text_ += part; }

  void add(const DimTerm& t) {
    const uint64_t size = t.coefficient < 0 ? 0 - uint64_t(t.coefficient) : uint64_t(t.coefficient);
    const bool number = size != 1 || t.atoms.empty();
    if (number) add(std::to_string(size));
    for (size_t i = 0; i < t.atoms.size() && !full(); ++i) {
      if (number || i > 0) add("*");
      add(*t.atoms[i]);
    }
  }

  void add(const DimAtom& x) {
    switch (x.op) {
      case DimOp::symbol: return add(x.pool->symbol_name(x.symbol));
      case DimOp::floordiv: return add("floor((", x, ")/(", "))");
      case DimOp::mod: return add("mod(", x, ", ", ")");
      case DimOp::min: return add("min(", x, ", ", ")");
      case DimOp::max: return add("max(", x, ", ", ")");
      default: return add("broadcast(", x, ", ", ")");
    }
  }

  void add(std::string_view open, const DimAtom& x, std::string_view between, std::string_view close) {
    add(open);
    if (!full()) add(x.a);
    add(between);
    if (!full()) add(x.b);
    add(close);
  }

  size_t whole_characters(size_t bytes) const {
    while (bytes > 0 && (uint8_t(text_[bytes]) & 0xc0) == 0x80) --bytes;
    return bytes;
  }

  std::string text_;
};

}  // namespace

std::string to_string(Dim d) {
  DimText text;
  text.add(d);
  return std::move(text).text(d);
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
