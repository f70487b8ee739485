// SPDX-License-Identifier: Apache-2.0
// Dim: a size that is a number or a canonical polynomial over symbols ("batch", "4*seq + 1", "floor(n/2)").
// Expressions are hash-consed in a DimPool, so two Dims are equal for every binding that we can prove exactly
// when they compare equal. Symbols stand for sizes: they are never negative.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sx {

class DimPool;
struct DimExpr;

class Dim {
 public:
  constexpr Dim() = default;
  constexpr Dim(int64_t value) : value_(value) {}
  bool is_constant() const { return expr_ == nullptr; }
  bool is_constant(int64_t v) const { return expr_ == nullptr && value_ == v; }
  int64_t constant() const { return value_; }    // only if is_constant()
  const DimExpr* expr() const { return expr_; }  // null for a constant
  bool operator==(const Dim&) const = default;

 private:
  friend class DimPool;
  int64_t value_ = 0;
  const DimExpr* expr_ = nullptr;
};

Dim operator+(Dim a, Dim b);
Dim operator-(Dim a, Dim b);
Dim operator*(Dim a, Dim b);
Dim floordiv(Dim a, Dim b);  // rounds towards minus infinity; b must not be zero
Dim ceildiv(Dim a, Dim b);
Dim mod(Dim a, Dim b);  // sign of b
Dim min(Dim a, Dim b);
Dim max(Dim a, Dim b);
Dim broadcast(Dim a, Dim b);  // the common size of two broadcast axes: equal, or one of them is 1

// What can be proved for every binding of the symbols.
bool always_at_least(Dim a, int64_t least);
bool always_positive(Dim a);
std::string to_string(Dim d);                      // at most some 200 characters
std::string to_string(std::span<const Dim> dims);  // "[batch, 3, 224]"

// Sums and products are written as terms; the two name what was too large for that.
enum class DimOp : uint8_t { symbol, floordiv, mod, min, max, broadcast, sum, product };

// Between which numbers a value lies for every binding. The ends of int64 say nothing.
struct DimBounds {
  int64_t lower = INT64_MIN, upper = INT64_MAX;
};

// What is known of an atom or an expression is found out once, when it is made.
struct DimAtom {
  DimOp op = DimOp::symbol;
  uint32_t symbol = 0;  // for DimOp::symbol
  Dim a, b;             // for the others
  DimPool* pool = nullptr;
  uint32_t id = 0;  // larger than those of its parts
  DimBounds bounds;
  bool fresh = false;  // mentions a symbol that is unknown until something is run
};
struct DimTerm {
  int64_t coefficient = 0;
  std::vector<const DimAtom*>
      atoms;  // sorted by id; a square names its atom twice; empty is the constant term
};
struct DimExpr {
  std::vector<DimTerm> terms;  // sorted, coefficients not zero
  DimPool* pool = nullptr;
  uint32_t id = 0;
  DimBounds bounds;
  bool fresh = false;
  // Every atom that the value depends on, once and sorted by id, so that parts stand before what is made of
  // them: a walk along this list is a walk over the distinct parts, of which there are at most kMostParts.
  std::vector<const DimAtom*> parts;
};

class DimPool {
 public:
  static constexpr size_t kMostParts = 256;  // of one expression; what grows larger becomes a fresh symbol

  DimPool();
  ~DimPool();
  DimPool(const DimPool&) = delete;
  DimPool& operator=(const DimPool&) = delete;

  Dim symbol(std::string_view name);       // the same name gives the same Dim
  Dim fresh(std::string_view hint = "u");  // a new symbol that nothing else is equal to
  size_t symbols() const;
  const std::string& symbol_name(uint32_t symbol) const;
  bool is_fresh(uint32_t symbol) const;  // made by fresh(): unknown until something is run
  Dim symbol_at(uint32_t symbol);
  // A symbol of another pool, with its name and all that is known of it. Not for a name that is here already.
  Dim adopt(const DimPool& other, uint32_t symbol);

  // Rebuilds `d` with symbols replaced; `values[s]` empty keeps symbol s.
  Dim substitute(Dim d, std::span<const Dim> values, std::span<const bool> given);

  Dim intern(std::vector<DimTerm> terms);  // sums of like terms already merged
  Dim atom(DimOp op, Dim a, Dim b);        // as written, not simplified

 private:
  friend Dim operator+(Dim a, Dim b);
  friend Dim operator*(Dim a, Dim b);
  struct State;
  bool try_intern(std::vector<DimTerm> terms, Dim& d);  // false: it has too many parts
  // Stands for a result that is too large to be written down: a fresh symbol that keeps what is known of it,
  // the same for the same operation. Unlike other symbols it may be negative, where the result may.
  Dim outgrown(DimOp op, Dim a, Dim b, DimBounds bounds);
  std::unique_ptr<State> state_;
};

inline DimBounds bounds_of(Dim d) {
  return d.expr() ? d.expr()->bounds : DimBounds{d.constant(), d.constant()};
}
inline bool mentions_fresh(Dim d) { return d.expr() && d.expr()->fresh; }

// Dims with symbols replaced, many of them for one set of replacements: each distinct part is rebuilt once.
class Substitution {
 public:
  Substitution(DimPool& pool, std::span<const Dim> values, std::span<const bool> given)
      : pool_(pool), values_(values), given_(given) {}
  Dim operator()(Dim d);

 private:
  Dim rebuilt(const DimAtom& atom);
  Dim sum_of(const DimExpr& expr);
  DimPool& pool_;
  std::span<const Dim> values_;
  std::span<const bool> given_;
  std::unordered_map<const DimAtom*, Dim> atoms_;
  std::unordered_map<const DimExpr*, Dim> exprs_;
};

// The value under a binding (one number a symbol, negative: not known). False on overflow, division by zero,
// a broadcast that fails or a symbol that is not known. Allocates nothing.
bool evaluate(Dim d, std::span<const int64_t> symbols, int64_t& value);
// Why a size has no value, or none that is a size, as in "2 and 4 do not broadcast".
std::string why_no_size(Dim d, std::span<const int64_t> symbols);

// The same for many Dims under one binding, which must not change meanwhile: each distinct part is computed
// once.
class DimValues {
 public:
  explicit DimValues(std::span<const int64_t> symbols) : symbols_(symbols) {}
  bool value(Dim d, int64_t& value);

 private:
  std::span<const int64_t> symbols_;
  std::vector<int64_t> values_;  // by atom
  std::vector<uint8_t> states_;  // by atom: not asked yet, has a value, has none
};

// The shape of a tensor as inference knows it: perhaps not even its rank.
struct Shape {
  bool known = false;
  std::vector<Dim> dims;

  Shape() = default;
  Shape(std::vector<Dim> d) : known(true), dims(std::move(d)) {}
  size_t rank() const { return dims.size(); }
  bool is_constant() const;
  bool operator==(const Shape&) const = default;
};
Shape constant_shape(std::span<const int64_t> dims);
std::string to_string(const Shape& shape);  // "[N, 3]", or "[?]" of unknown rank

}  // namespace sx
