// SPDX-License-Identifier: Apache-2.0
// Matching: backtracking over the ways to assign the terms of a sum or the factors of a product.
#include "passes/pattern.h"

#include <algorithm>
#include <cmath>

#include "graph/op.h"

namespace sx::passes {
namespace {

constexpr double kTolerance = 5e-4;  // constants of float16 models are this far off
constexpr int kMostFlattened = 4;    // levels of a sum or a product

Expr make(Formula f) { return Expr(std::make_shared<const Formula>(std::move(f))); }

bool close(double a, double b) {
  const double gap = std::fabs(a - b);
  return std::isfinite(gap) && gap <= kTolerance * std::max(std::fabs(a), std::fabs(b));
}

bool is_number(const Expr& e) { return e->kind == Formula::Kind::number; }

// A sum or product, flattened: a number and the operands that are no numbers.
template <class Operand>
struct Chain {
  double number;
  bool has_number = false;
  std::vector<Operand> operands = {};
};

enum class Arithmetic : uint8_t { none, sum, product };

Arithmetic arithmetic_of(const Formula& f) {
  if (f.kind != Formula::Kind::op) return Arithmetic::none;
  if (f.type == "Mul" || (f.type == "Div" && is_number(f.inputs[1]))) return Arithmetic::product;
  if (f.type == "Add" || (f.type == "Sub" && is_number(f.inputs[1]))) return Arithmetic::sum;
  return Arithmetic::none;
}

template <class Operand>
void combine(Chain<Operand>& chain, Arithmetic kind, double number, bool inverse) {
  if (kind == Arithmetic::product)
    chain.number *= inverse ? 1 / number : number;
  else
    chain.number += inverse ? -number : number;
  chain.has_number = true;
}

// An operator with a label is a value of its own, never part of the chain around it.
void flatten(const Expr& e, Arithmetic kind, Chain<Expr>& chain, bool root = false) {
  if (is_number(e)) {
    combine(chain, kind, e->number, false);
  } else if (arithmetic_of(*e) != kind || (!root && !e->name.empty())) {
    chain.operands.push_back(e);
  } else {
    flatten(e->inputs[0], kind, chain);
    const bool inverse = e->type == "Div" || e->type == "Sub";
    if (inverse)
      combine(chain, kind, e->inputs[1]->number, true);
    else
      flatten(e->inputs[1], kind, chain);
  }
}

class Matcher {
 public:
  Matcher(const Graph& graph, Match& match, BodyId body) : g_(graph), m_(match), body_(body) {}

  bool match(const Expr& e, ValueId v) {
    if (v == kNoValue) return false;
    double number = 0;
    switch (e->kind) {
      case Formula::Kind::any: return bind(e->name, v);
      case Formula::Kind::weight: {
        const Tensor* t = constant_of(g_, v);
        return t && t->count() > 1 && bind(e->name, v);
      }
      case Formula::Kind::scalar:
        return one_number(g_, v, number) && bind_number(e->name, number) && bind(e->name, v);
      case Formula::Kind::number: return one_number(g_, v, number) && close(number, e->number);
      case Formula::Kind::op: break;
    }
    const Arithmetic kind = arithmetic_of(*e);
    return kind == Arithmetic::none ? match_op(e, v) : match_chain(e, v, kind);
  }

 private:
  struct State {
    size_t values, numbers, labels, nodes;
  };
  State save() const { return {m_.values.size(), m_.numbers.size(), m_.labels.size(), m_.nodes.size()}; }
  bool restore(const State& s) {
    m_.values.resize(s.values);
    m_.numbers.resize(s.numbers);
    m_.labels.resize(s.labels);
    m_.nodes.resize(s.nodes);
    return false;
  }

  bool bind(const std::string& name, ValueId v) {
    const ValueId have = m_[name];
    if (have != kNoValue) return have == v;
    m_.values.emplace_back(name, v);
    return true;
  }

  bool bind_number(const std::string& name, double number) {
    for (auto& [n, have] : m_.numbers) {
      if (n == name) return close(have, number);
    }
    m_.numbers.emplace_back(name, number);
    return true;
  }

  const Node* maker(ValueId v) const {
    const ValueInfo& info = g_.value(v);
    if (info.producer == kNoNode || info.producer_output != 0) return nullptr;
    const Node& n = g_.node(info.producer);
    return n.body == body_ && n.domain.empty() ? &n : nullptr;
  }

  static bool attrs_fit(const Node& n, const Formula& f) {
    return std::all_of(f.attrs.begin(), f.attrs.end(), [&](const Attr& want) {
      if (const AttrValue* have = n.attrs.find(want.name)) {
        const auto *a = std::get_if<float>(have), *b = std::get_if<float>(&want.value);
        return a && b ? close(*a, *b) : equal(*have, want.value);
      }
      const auto def =
          std::find_if(n.op->attrs.begin(), n.op->attrs.end(), [&](auto& d) { return d.name == want.name; });
      if (def == n.op->attrs.end() || def->need != AttrDef::Need::defaulted) return false;
      switch (def->kind) {
        case AttrKind::integer: return equal(AttrValue(def->integer), want.value);
        case AttrKind::floating: return equal(AttrValue(def->floating), want.value);
        default: return equal(AttrValue(std::string(def->text)), want.value);
      }
    });
  }

  bool match_op(const Expr& e, ValueId v) {
    const Node* n = maker(v);
    if (!n || n->type != e->type || n->inputs.size() < e->inputs.size() || !attrs_fit(*n, *e)) return false;
    const State before = save();
    const NodeId id = g_.value(v).producer;
    m_.nodes.push_back(id);
    if (!e->name.empty()) m_.labels.emplace_back(e->name, id);
    for (size_t i = 0; i < e->inputs.size(); ++i) {
      if (!match(e->inputs[i], n->inputs[i])) return restore(before);
    }
    return true;
  }

  // The graph's side of a chain; inner nodes must be used here alone.
  void flatten_graph(ValueId v, Arithmetic kind, int depth, Chain<ValueId>& chain,
                     std::vector<NodeId>& nodes) {
    double number = 0;
    if (one_number(g_, v, number)) {
      combine(chain, kind, number, false);
      return;
    }
    const Node* n = depth > 0 && (nodes.empty() || used_once(g_, v)) ? maker(v) : nullptr;
    const bool plain = n && n->type == (kind == Arithmetic::sum ? "Add" : "Mul");
    const bool inverse =
        n && n->type == (kind == Arithmetic::sum ? "Sub" : "Div") && one_number(g_, n->inputs[1], number);
    if (!plain && !inverse) {
      chain.operands.push_back(v);
      return;
    }
    nodes.push_back(g_.value(v).producer);
    flatten_graph(n->inputs[0], kind, depth - 1, chain, nodes);
    if (inverse)
      combine(chain, kind, number, true);
    else
      flatten_graph(n->inputs[1], kind, depth - 1, chain, nodes);
  }

  bool match_chain(const Expr& e, ValueId v, Arithmetic kind) {
    const double start = kind == Arithmetic::product ? 1 : 0;
    Chain<Expr> wanted{start};
    flatten(e, kind, wanted, true);
    size_t last_size = 0;
    for (int depth = kMostFlattened; depth >= 1; --depth) {
      Chain<ValueId> found{start};
      std::vector<NodeId> nodes;
      flatten_graph(v, kind, depth, found, nodes);
      if (nodes.empty()) return false;
      if (nodes.size() == last_size) continue;
      last_size = nodes.size();
      const State before = save();
      m_.nodes.insert(m_.nodes.end(), nodes.begin(), nodes.end());
      if (!e->name.empty()) m_.labels.emplace_back(e->name, g_.value(v).producer);
      if (match_parts(wanted, found)) return true;
      restore(before);
    }
    return false;
  }

  bool match_parts(const Chain<Expr>& wanted, const Chain<ValueId>& found) {
    std::vector<Expr> operands;
    bool number_taken = false;
    for (const Expr& e : wanted.operands) {
      if (e->kind == Formula::Kind::scalar && !wanted.has_number && !number_taken) {
        // One free number takes all the numbers of the chain.
        if (!found.has_number || !bind_number(e->name, found.number)) return false;
        number_taken = true;
      } else {
        operands.push_back(e);
      }
    }
    if (operands.size() != found.operands.size()) return false;
    if (!number_taken && (wanted.has_number != found.has_number || !close(wanted.number, found.number)))
      return false;
    std::vector<bool> taken(operands.size(), false);
    return assign(operands, found.operands, 0, taken);
  }

  bool assign(const std::vector<Expr>& wanted, const std::vector<ValueId>& found, size_t next,
              std::vector<bool>& taken) {
    if (next == wanted.size()) return true;
    for (size_t i = 0; i < found.size(); ++i) {
      if (taken[i]) continue;
      const State before = save();
      taken[i] = true;
      if (match(wanted[next], found[i]) && assign(wanted, found, next + 1, taken)) return true;
      taken[i] = false;
      restore(before);
    }
    return false;
  }

  const Graph& g_;
  Match& m_;
  BodyId body_;
};

// Nothing outside the match may need what is inside it.
bool closed(const Graph& graph, const Match& m) {
  for (NodeId n : m.nodes) {
    if (n == m.root) continue;
    for (ValueId v : graph.node(n).outputs) {
      if (v == kNoValue) continue;
      const auto& uses = graph.value(v).uses;
      const bool inside = std::all_of(uses.begin(), uses.end(), [&](const Use& u) {
        return std::find(m.nodes.begin(), m.nodes.end(), u.node) != m.nodes.end();
      });
      if (!inside || graph.use_count(v) != uses.size()) return false;
    }
  }
  return true;
}

// A number that is a tensor of one element gives what it meets its axes, too: there must be as many already.
bool numbers_add_no_axes(const Graph& graph, const Match& m) {
  for (NodeId n : m.nodes) {
    for (ValueId v : graph.node(n).inputs) {
      const Tensor* t = v == kNoValue ? nullptr : constant_of(graph, v);
      if (!t || t->count() != 1 || t->rank() == 0 || !dtype_is_float(t->type())) continue;
      const auto& inputs = graph.node(n).inputs;
      const bool has_them = std::any_of(inputs.begin(), inputs.end(), [&](ValueId w) {
        return w != kNoValue && w != v && shape_of(graph, w).known && shape_of(graph, w).rank() >= t->rank();
      });
      if (!has_them) return false;
    }
  }
  return true;
}

}  // namespace

Expr::Expr(double number)
    : Expr(make({.kind = Formula::Kind::number, .name = {}, .number = number, .type = {}})) {}

Expr Expr::with(std::string_view attr, AttrValue value) const {
  Formula f = *f_;
  f.attrs.push_back({std::string(attr), std::move(value)});
  return make(std::move(f));
}

Expr Expr::as(std::string_view label) const {
  Formula f = *f_;
  f.name = label;
  return make(std::move(f));
}

namespace {
Expr capture(Formula::Kind kind, std::string_view name) {
  return make({.kind = kind, .name = std::string(name), .number = 0, .type = {}});
}
}  // namespace

Expr any(std::string_view name) { return capture(Formula::Kind::any, name); }
Expr weight(std::string_view name) { return capture(Formula::Kind::weight, name); }
Expr scalar(std::string_view name) { return capture(Formula::Kind::scalar, name); }

Expr op(std::string_view type, std::vector<Expr> inputs) {
  return make({.kind = Formula::Kind::op,
               .name = {},
               .number = 0,
               .type = std::string(type),
               .inputs = std::move(inputs)});
}

Expr operator+(Expr a, Expr b) { return op("Add", {std::move(a), std::move(b)}); }
Expr operator-(Expr a, Expr b) { return op("Sub", {std::move(a), std::move(b)}); }
Expr operator*(Expr a, Expr b) { return op("Mul", {std::move(a), std::move(b)}); }
Expr operator/(Expr a, Expr b) { return op("Div", {std::move(a), std::move(b)}); }

ValueId Match::operator[](std::string_view name) const {
  for (const auto& [n, v] : values) {
    if (n == name) return v;
  }
  return kNoValue;
}

double Match::number(std::string_view name) const {
  for (const auto& [n, x] : numbers) {
    if (n == name) return x;
  }
  return 0;
}

const Node* Match::node(std::string_view label) const {
  for (const auto& [n, id] : labels) {
    if (n == label) return &graph.node(id);
  }
  return nullptr;
}

bool matches(const Expr& pattern, const Graph& graph, NodeId root, Match& match) {
  const Node& n = graph.node(root);
  if (n.outputs.empty() || n.outputs[0] == kNoValue) return false;
  match.root = root;
  return Matcher(graph, match, n.body).match(pattern, n.outputs[0]) && closed(graph, match) &&
         numbers_add_no_axes(graph, match);
}

ValueId build(const Expr& e, Builder& builder, const Match& match, DType like) {
  switch (e->kind) {
    case Formula::Kind::any:
    case Formula::Kind::weight: return match[e->name];
    case Formula::Kind::scalar: return builder.constant(scalar_of(like, match.number(e->name)));
    case Formula::Kind::number: return builder.constant(scalar_of(like, e->number));
    case Formula::Kind::op: break;
  }
  std::vector<ValueId> inputs;
  for (const Expr& i : e->inputs) inputs.push_back(build(i, builder, match, like));
  Attrs attrs;
  for (const Attr& a : e->attrs) attrs.set(a.name, a.value);
  return builder.op(e->type, std::move(inputs), std::move(attrs));
}

Rule Rewriting::to(std::function<ValueId(Builder&, const Match&)> make_value) const {
  auto apply = [pattern = pattern_, condition = condition_, make_value](Graph& graph, NodeId root) -> Patch {
    Match m{graph};
    if (!matches(pattern, graph, root, m) || (condition && !condition(m))) return {};
    Builder builder(graph, graph.node(root).body, root);
    const ValueId made = make_value(builder, m);
    if (made == kNoValue || !builder.status().ok()) return {};
    Patch patch = Patch::with(graph.node(root).outputs[0], made);
    patch.matched = m.nodes;
    return patch;
  };
  std::vector<std::string_view> roots;
  if (pattern_->kind == Formula::Kind::op) {
    // The root of a chain may be either of the two operators that spell it.
    switch (arithmetic_of(*pattern_)) {
      case Arithmetic::product: roots = {"Mul", "Div"}; break;
      case Arithmetic::sum: roots = {"Add", "Sub"}; break;
      case Arithmetic::none: roots = {pattern_->type}; break;
    }
  }
  return rule(std::move(roots), std::move(apply));
}

Rule Rewriting::to(Expr formula) const {
  return to([formula](Builder& b, const Match& m) -> ValueId {
    const DType like = m.graph.value(m.graph.node(m.root).outputs[0]).type.elem;
    if (like == DType::undefined) return kNoValue;
    return build(formula, b, m, like);
  });
}

}  // namespace sx::passes
