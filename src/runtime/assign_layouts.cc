// SPDX-License-Identifier: Apache-2.0
// Which layout each value has. A node's offers are its labels, reorders are the cost between neighbours;
// labels are improved one node at a time from two starting points until nothing gets cheaper.
#include <algorithm>
#include <unordered_map>

#include "base/format.h"
#include "graph/builder.h"
#include "graph/op.h"
#include "runtime/placement.h"
#include "runtime/symbols.h"

namespace sx {
namespace {

// Reading and writing four bytes an element at about 10 GB/s.
constexpr double kReorderNsPerElement = 0.8;
constexpr int kMostSweeps = 8;

struct Chooser {
  const Graph& graph;
  const std::vector<std::vector<LayoutOffer>>& offers;  // by node
  std::vector<size_t> choice;                           // by node
  // By value: the layouts that its readers want by their choices, with how many want each.
  struct Wanted {
    Layout layout;
    size_t readers = 0;
  };
  std::vector<std::vector<Wanted>> wanted;
  std::vector<double> elements;  // by value; estimated when first asked for

  Chooser(const Graph& g, const std::vector<std::vector<LayoutOffer>>& o, std::vector<size_t> start)
      : graph(g), offers(o), choice(std::move(start)), wanted(g.values()), elements(g.values(), -1) {
    for (ValueId v = 0; v < graph.values(); ++v) {
      for (const Use& use : graph.value(v).uses) want(v, in_layout(use), 1);
      if (graph.is_output(v)) want(v, {}, 1);
    }
  }

  void want(ValueId v, const Layout& layout, int more) {
    auto it = std::find_if(wanted[v].begin(), wanted[v].end(), [&](auto& w) { return w.layout == layout; });
    if (it == wanted[v].end()) it = wanted[v].insert(it, {layout, 0});
    it->readers += size_t(more);
  }
  void choose(NodeId n, size_t offer) {
    const std::vector<ValueId>& inputs = graph.node(n).inputs;
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] != kNoValue) want(inputs[i], in_layout({n, i}), -1);
    }
    choice[n] = offer;
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] != kNoValue) want(inputs[i], in_layout({n, i}), 1);
    }
  }
  Layout out_layout(ValueId v) const {
    const ValueInfo& info = graph.value(v);
    if (info.producer == kNoNode || offers[info.producer].empty()) return {};
    const LayoutOffer& o = offers[info.producer][choice[info.producer]];
    return info.producer_output < o.out.size() ? o.out[info.producer_output] : Layout();
  }
  Layout in_layout(const Use& use) const {
    if (offers[use.node].empty()) return {};
    const LayoutOffer& o = offers[use.node][choice[use.node]];
    return use.input < o.in.size() ? o.in[use.input] : Layout();
  }
  double reorder_cost(ValueId v) {
    const Layout have = out_layout(v);
    double cost = 0;
    for (const Wanted& w : wanted[v]) {
      if (w.readers == 0 || w.layout == have) continue;
      if (elements[v] < 0) elements[v] = estimate_count(graph.value(v).type.shape);
      cost += elements[v] * kReorderNsPerElement;
    }
    return cost;
  }
  double local_cost(NodeId n) {
    double cost = offers[n][choice[n]].cost;
    for (ValueId v : graph.node(n).inputs) cost += v == kNoValue ? 0 : reorder_cost(v);
    for (ValueId v : graph.node(n).outputs) cost += v == kNoValue ? 0 : reorder_cost(v);
    return cost;
  }
  bool improve(NodeId n) {
    const size_t before = choice[n];
    size_t best = before;
    double least = local_cost(n);
    for (size_t i = 0; i < offers[n].size() && offers[n].size() > 1; ++i) {
      choose(n, i);
      const double cost = local_cost(n);
      if (cost < least * 0.999999) {
        least = cost;
        best = i;
      }
    }
    choose(n, best);
    return best != before;
  }
  double total() {
    double cost = 0;
    for (NodeId n = 0; n < offers.size(); ++n) cost += offers[n].empty() ? 0 : offers[n][choice[n]].cost;
    for (ValueId v = 0; v < graph.values(); ++v) cost += reorder_cost(v);
    return cost;
  }
  void settle() {
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      bool changed = false;
      for (NodeId n = 0; n < offers.size(); ++n) changed |= !offers[n].empty() && improve(n);
      for (NodeId n = NodeId(offers.size()); n-- > 0;) changed |= !offers[n].empty() && improve(n);
      if (!changed) break;
    }
  }
};

// How many operands are not plain.
size_t laid_out(const LayoutOffer& o) {
  auto laid = [](const Layout& l) { return !l.plain(); };
  return size_t(std::count_if(o.in.begin(), o.in.end(), laid) +
                std::count_if(o.out.begin(), o.out.end(), laid));
}

// Follows the nodes of a program in their order: are the sizes of a node's results told by what came before?
// If not, its record has to run it, and that reads and writes nothing but plain values.
class Sizes {
 public:
  Sizes(const Graph& graph, BodyId body) : graph_(graph), known_(graph.pool().symbols() + 1) {
    for (BodyId b = body;; b = graph.node(graph.body(b).owner).body) {
      for (ValueId v : graph.body(b).inputs) learn(v);
      if (graph.body(b).owner == kNoNode) break;
    }
  }

  bool settle(NodeId n) const {
    const Node& node = graph_.node(n);
    const auto settled = [&](ValueId v) {
      if (v == kNoValue) return true;
      const Shape& shape = graph_.value(v).type.shape;
      return shape.known && std::none_of(shape.dims.begin(), shape.dims.end(), open);
    };
    const auto told = [&](ValueId v) {
      return v == kNoValue || only_known(graph_.value(v).type.shape.dims, known_);
    };
    return std::all_of(node.inputs.begin(), node.inputs.end(), settled) &&
           std::all_of(node.outputs.begin(), node.outputs.end(), settled) &&
           std::all_of(node.outputs.begin(), node.outputs.end(), told);
  }

  void pass(NodeId n) {
    for (ValueId v : graph_.node(n).outputs) learn(v);
  }

 private:
  static bool open(Dim d) { return mentions_fresh(d) && pure_symbol(d) < 0; }
  void learn(ValueId v) {
    if (v == kNoValue) return;
    for (Dim d : graph_.value(v).type.shape.dims) {
      if (const int64_t s = pure_symbol(d); s >= 0) known_[size_t(s)] = true;
    }
  }

  const Graph& graph_;
  std::vector<bool> known_;
};

void keep_plain(Placement& placement, NodeId n, std::vector<LayoutOffer>& offers) {
  std::erase_if(offers, [](const LayoutOffer& o) { return laid_out(o) > 0; });
  if (offers.empty()) placement.provider_of[n] = int(placement.providers.size()) - 1;
}

std::vector<size_t> choose(const Graph& graph, const std::vector<std::vector<LayoutOffer>>& offers) {
  std::vector<size_t> plain(offers.size(), 0), rich(offers.size(), 0);
  for (size_t n = 0; n < offers.size(); ++n) {
    for (size_t i = 0; i < offers[n].size(); ++i) {
      if (laid_out(offers[n][i]) == 0) plain[n] = i;
      if (laid_out(offers[n][i]) > laid_out(offers[n][rich[n]])) rich[n] = i;
    }
  }
  Chooser from_plain(graph, offers, plain), from_rich(graph, offers, rich);
  from_plain.settle();
  from_rich.settle();
  return from_plain.total() < from_rich.total() ? from_plain.choice : from_rich.choice;
}

// The value in the wanted layout: itself, a Reorder made before, or a new one.
struct Reorders {
  Graph& graph;
  Placement& placement;
  std::unordered_map<ValueId, std::vector<std::pair<Layout, ValueId>>> made;

  Result<ValueId> get(ValueId v, Layout want, NodeId before, Provider* reader) {
    if (placement.layout(v) == want) return v;
    for (auto& [layout, value] : made[v]) {
      if (layout == want) return value;
    }
    // Two layouts that are not plain meet in the plain one: each owner knows only its own.
    if (!placement.layout(v).plain() && !want.plain()) {
      SX_ASSIGN(const ValueId plain, get(v, {}, before, nullptr));
      return get(plain, want, before, reader);
    }
    // Stands right behind the producer, so that every later reader finds it.
    const ValueInfo& info = graph.value(v);
    const NodeList& nodes = graph.body(info.body).nodes;
    const NodeId first = nodes.empty() ? kNoNode : nodes.front();
    const NodeId place = info.producer == kNoNode ? first : graph.next(info.producer);
    Attrs attrs;
    attrs.set("from", to_string(placement.layout(v)));
    attrs.set("to", to_string(want));
    const NodeId node =
        graph.add_node(info.body, find_op("sx", "Reorder"), {v}, std::move(attrs), size_t(1), place);
    const ValueId out = graph.node(node).outputs[0];
    graph.value(out).type = graph.value(v).type;
    graph.node(node).name = graph.value(v).name + (want.plain() ? " to plain" : " to " + to_string(want));
    placement.grow(graph);
    placement.layout_of[out] = want;
    const NodeId producer = graph.value(v).producer;
    const Layout& special = want.plain() ? placement.layout(v) : want;
    int who = reader                ? placement.provider_of[before]
              : producer == kNoNode ? -1
                                    : placement.provider_of[producer];
    if (special.kind == Layout::Kind::provider) who = placement.owner(special);
    if (who < 0) {
      return error(Code::internal, "nobody moves '{}' between {} and {}", graph.value(v).name,
                   to_string(placement.layout(v)), to_string(want));
    }
    placement.provider_of[node] = who;
    made[v].push_back({want, out});
    return out;
  }
};

Status insert_reorders(Graph& graph, Placement& placement,
                       const std::vector<std::vector<LayoutOffer>>& offers,
                       const std::vector<size_t>& choice) {
  Reorders reorders{graph, placement, {}};
  const size_t bodies = graph.bodies();
  for (BodyId b = 0; b < bodies; ++b) {
    if (is_group_body(graph, b)) continue;
    const std::vector<NodeId> order = graph.body(b).nodes;
    for (NodeId n : order) {
      for (size_t i = 0; i < graph.node(n).inputs.size(); ++i) {
        const ValueId v = graph.node(n).inputs[i];
        if (v == kNoValue) continue;
        const bool offered = n < offers.size() && !offers[n].empty() && i < offers[n][choice[n]].in.size();
        const Layout want = offered ? offers[n][choice[n]].in[i] : Layout();
        SX_ASSIGN(const ValueId use,
                  reorders.get(v, want, n, want.plain() ? nullptr : placement.provider(n)));
        if (use != v) graph.set_input(n, i, use);
      }
    }
    for (size_t i = 0; i < graph.body(b).outputs.size(); ++i) {
      const ValueId v = graph.body(b).outputs[i];
      if (placement.layout(v).plain()) continue;
      SX_ASSIGN(const ValueId use, reorders.get(v, {}, kNoNode, nullptr));
      std::swap(graph.value(use).name, graph.value(v).name);
      graph.set_output(b, i, use);
    }
  }
  return {};
}

}  // namespace

Status assign_layouts(Graph& graph, Placement& placement) {
  placement.grow(graph);
  std::vector<std::vector<LayoutOffer>> offers(graph.nodes());
  bool any = false;
  for (BodyId b = 0; b < graph.bodies(); ++b) {
    if (is_group_body(graph, b)) continue;
    Sizes sizes(graph, b);
    for (NodeId n : graph.body(b).nodes) {
      if (Provider* p = placement.provider(n)) offers[n] = p->layouts(graph, n);
      if (!offers[n].empty() && !sizes.settle(n)) keep_plain(placement, n, offers[n]);
      sizes.pass(n);
      any = any || !offers[n].empty();
    }
  }
  if (!any) return {};
  const std::vector<size_t> choice = choose(graph, offers);
  for (NodeId n = 0; n < offers.size(); ++n) {
    if (offers[n].empty()) continue;
    const LayoutOffer& o = offers[n][choice[n]];
    for (size_t i = 0; i < graph.node(n).outputs.size() && i < o.out.size(); ++i) {
      if (graph.node(n).outputs[i] != kNoValue) placement.layout_of[graph.node(n).outputs[i]] = o.out[i];
    }
  }
  SX_TRY(insert_reorders(graph, placement, offers, choice));
  return graph.verify();
}

}  // namespace sx
