// SPDX-License-Identifier: Apache-2.0
// Formulas that match and that build. The same expression is a pattern in rewrite(…) and a recipe in to(…):
//
//   auto x = any("x");
//   return rewrite(x * 0.5 * (1.0 + erf(x / std::sqrt(2.0)))).to(gelu(x));
//
// Sums and products match in any order and any bracketing, numbers within a tolerance, a division by a number
// as the product with its inverse. What a match runs through must be used by the match alone.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "passes/rule.h"

namespace sx::passes {

struct Formula;

class Expr {
 public:
  Expr(double number);
  explicit Expr(std::shared_ptr<const Formula> f) : f_(std::move(f)) {}
  const Formula& operator*() const { return *f_; }
  const Formula* operator->() const { return f_.get(); }

  Expr with(std::string_view attr,
            AttrValue value) const;       // matching: equal or absent by default; building: set
  Expr as(std::string_view label) const;  // the node can be asked for in where() and to()

 private:
  std::shared_ptr<const Formula> f_;
};

struct Formula {
  enum class Kind : uint8_t { any, weight, scalar, number, op };
  Kind kind = Kind::any;
  std::string name;  // of the capture, or the label of an operator
  double number = 0;
  std::string type;               // operator
  std::vector<Expr> inputs = {};  // the first inputs of the node; others are not looked at
  std::vector<Attr> attrs = {};
};

Expr any(std::string_view name);     // any value; the same name is the same value
Expr weight(std::string_view name);  // a constant of more than one element
Expr scalar(std::string_view name);  // a constant of one element; Match::number() gives it
Expr op(std::string_view type, std::vector<Expr> inputs);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
inline Expr erf(Expr x) { return op("Erf", {x}); }
inline Expr tanh(Expr x) { return op("Tanh", {x}); }
inline Expr sqrt(Expr x) { return op("Sqrt", {x}); }
inline Expr sigmoid(Expr x) { return op("Sigmoid", {x}); }
inline Expr pow(Expr x, double e) { return op("Pow", {x, e}); }
inline Expr gelu(Expr x) { return op("Gelu", {x}); }

struct Match {
  const Graph& graph;
  NodeId root = kNoNode;
  std::vector<NodeId> nodes = {};  // every node that was matched
  std::vector<std::pair<std::string, ValueId>> values = {};
  std::vector<std::pair<std::string, double>> numbers = {};
  std::vector<std::pair<std::string, NodeId>> labels = {};

  ValueId operator[](std::string_view name) const;  // kNoValue if there is none
  double number(std::string_view name) const;
  const Node* node(std::string_view label) const;
};

// Tries to match the value that `root` makes.
bool matches(const Expr& pattern, const Graph& graph, NodeId root, Match& match);
// Builds the formula; numbers get the element type `like`.
ValueId build(const Expr& formula, Builder& builder, const Match& match, DType like);

class Rewriting {
 public:
  explicit Rewriting(Expr pattern) : pattern_(std::move(pattern)) {}
  Rewriting& where(std::function<bool(const Match&)> condition) {
    condition_ = std::move(condition);
    return *this;
  }
  Rule to(Expr formula) const;
  Rule to(std::function<ValueId(Builder&, const Match&)> make) const;  // kNoValue: not after all

 private:
  Expr pattern_;
  std::function<bool(const Match&)> condition_;
};
inline Rewriting rewrite(Expr pattern) { return Rewriting(std::move(pattern)); }

}  // namespace sx::passes
