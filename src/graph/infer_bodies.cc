// SPDX-License-Identifier: Apache-2.0
#include "graph/infer_bodies.h"

#include <algorithm>
#include <functional>

#include "base/format.h"
#include "graph/merge_types.h"

namespace sx {
namespace {

void each_body(const Node& node, FunctionRef<void(BodyId)> visit) {
  for (const Attr& a : node.attrs.list()) {
    if (const auto* one = std::get_if<BodyRef>(&a.value)) visit(one->id);
    if (const auto* many = std::get_if<std::vector<BodyRef>>(&a.value)) {
      for (BodyRef b : *many) visit(b.id);
    }
  }
}

void forget_values(Graph& graph, BodyId body) {
  for (NodeId n : graph.body(body).nodes) {
    for (ValueId v : graph.node(n).outputs) {
      if (v == kNoValue) continue;
      graph.value(v).type = {};
      graph.value(v).has_elements = false;
    }
  }
  graph.edit_guards([&](const Guard& g) {
    return g.node == kNoNode || graph.node(g.node).removed || graph.node(g.node).body != body;
  });
}

}  // namespace

void forget_inferred(Graph& graph, BodyId body) {
  forget_values(graph, body);
  for (NodeId n : graph.body(body).nodes) {
    each_body(graph.node(n), [&](BodyId inner) {
      for (ValueId v : graph.body(inner).inputs) graph.value(v).type = {};
      forget_inferred(graph, inner);
    });
  }
}

namespace {

// Pairs of a size that stands for every size, and the size that is given for it.
void match(const Type& have, const Type& given, FunctionRef<void(Dim, Dim)> pair) {
  const size_t rank = std::min(have.shape.rank(), given.shape.rank());
  for (size_t k = 0; k < rank; ++k) pair(have.shape.dims[k], given.shape.dims[k]);
  if (have.inner && given.inner) match(*have.inner, *given.inner, pair);
}

bool has(const std::vector<Dim>& list, Dim d) { return std::find(list.begin(), list.end(), d) != list.end(); }

}  // namespace

Type InferBodies::joined(const Type& have, const Type& given, Known& known) {
  if (!have.known() || !given.known() || have.kind != given.kind || have == given) return given;
  Type t = given;
  if (have.shape.known && given.shape.known && have.shape.rank() == given.shape.rank()) {
    for (size_t k = 0; k < t.shape.rank(); ++k) {
      Dim& d = t.shape.dims[k];
      const Dim before = have.shape.dims[k];
      if (d == before) continue;
      d = has(known.open, before) ? before : graph_.pool().fresh("turn");
      if (!(d == before)) known.open.push_back(d);
    }
  } else {
    t.shape = {};
  }
  if (have.inner && given.inner)
    t.inner = std::make_shared<const Type>(joined(*have.inner, *given.inner, known));
  return t;
}

std::vector<ValueId> InferBodies::captured(BodyId body) const {
  std::vector<BodyId> inside;
  std::vector<ValueId> read;
  const std::function<void(BodyId)> walk = [&](BodyId b) {
    inside.push_back(b);
    read.insert(read.end(), graph_.body(b).outputs.begin(), graph_.body(b).outputs.end());
    for (NodeId n : graph_.body(b).nodes) {
      const Node& node = graph_.node(n);
      read.insert(read.end(), node.inputs.begin(), node.inputs.end());
      each_body(node, walk);
    }
  };
  walk(body);
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  std::erase_if(read, [&](ValueId v) {
    return v == kNoValue || graph_.value(v).is_constant() ||
           std::find(inside.begin(), inside.end(), graph_.value(v).body) != inside.end();
  });
  return read;
}

bool InferBodies::unchanged(const Known& known) const {
  return std::all_of(known.seen.begin(), known.seen.end(), [&](const Seen& seen) {
    const ValueInfo& now = graph_.value(seen.value);
    if (!(now.type == seen.type) || now.has_elements != seen.has_elements) return false;
    return !now.has_elements || now.elements == seen.elements;
  });
}

void InferBodies::remember(BodyId body, Known& known) const {
  known.seen.clear();
  for (ValueId v : known.captured) {
    const ValueInfo& value = graph_.value(v);
    known.seen.push_back({v, value.type, value.has_elements, value.elements});
  }
  known.outputs.clear();
  for (ValueId v : graph_.body(body).outputs) known.outputs.push_back(graph_.value(v).type);
  known.done = true;
}

Status InferBodies::give(BodyId body, std::span<const Type> types) {
  const std::vector<ValueId>& own = graph_.body(body).inputs;
  for (size_t i = 0; i < std::min(own.size(), types.size()); ++i) {
    ValueInfo& value = graph_.value(own[i]);
    const DType have = value.type.elem, now = types[i].elem;
    const bool same_kind = !value.type.known() || !types[i].known() ||
                           (value.type.kind == types[i].kind &&
                            (have == now || have == DType::undefined || now == DType::undefined));
    if (!same_kind) {
      return error(Code::invalid_model, "input '{}' of the body is {}, it is given {}", value.name,
                   to_string(value.type), to_string(types[i]));
    }
    if (types[i].known()) value.type = types[i];
  }
  return {};
}

std::vector<Type> InferBodies::told(const Known& known, std::span<const Type> given) const {
  std::vector<Type> types = known.outputs;
  if (known.open.empty()) return types;
  const size_t symbols = graph_.pool().symbols();
  std::vector<Dim> values(symbols);
  std::unique_ptr<bool[]> replaced(new bool[symbols]());
  auto pair = [&](Dim have, Dim now) {
    if (!has(known.open, have)) return;
    const uint32_t symbol = have.expr()->terms[0].atoms[0]->symbol;
    values[symbol] = now;
    replaced[symbol] = true;
  };
  for (size_t i = 0; i < given.size(); ++i) match(known.inputs[i], given[i], pair);
  Substitution with(graph_.pool(), values, {replaced.get(), symbols});
  for (Type& t : types) substitute(t, with);
  return types;
}

Result<std::vector<Type>> InferBodies::infer(BodyId body, std::span<const Type> given,
                                             InferNodes infer_nodes) {
  if (const size_t inputs = graph_.body(body).inputs.size(); inputs != given.size())
    return error(Code::invalid_model, "the body has {} inputs, the node gives it {}", inputs, given.size());
  const auto [it, first] = known_.try_emplace(body);
  Known& known = it->second;  // stays where it is while bodies inside are added
  std::vector<Type> types(given.begin(), given.end());
  if (first) {
    known.captured = captured(body);
    const std::vector<ValueId>& own = graph_.body(body).inputs;
    bool exact = false;  // from before, about other inputs
    for (size_t i = 0; i < std::min(own.size(), types.size()); ++i)
      exact = exact || more_exact(graph_.value(own[i]).type, types[i]);
    if (exact) forget_inferred(graph_, body);
  } else {
    for (size_t i = 0; i < types.size(); ++i) types[i] = joined(known.inputs[i], types[i], known);
    if (known.done && types == known.inputs && unchanged(known)) return told(known, given);
    forget_values(graph_, body);
  }
  known.inputs = std::move(types);
  known.done = false;
  SX_TRY(give(body, known.inputs));
  SX_TRY(infer_nodes(body));
  remember(body, known);
  return told(known, given);
}

}  // namespace sx
