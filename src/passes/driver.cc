// SPDX-License-Identifier: Apache-2.0
// The driver: rules over a worklist of nodes, and the rounds of optimize().
#include <algorithm>
#include <deque>

#include "base/format.h"
#include "base/task.h"
#include "graph/infer_graph.h"
#include "graph/op.h"
#include "passes/rule.h"
#include "passes/steps.h"

namespace sx::passes {
namespace {

constexpr size_t kMostRounds = 32;  // of folding, sharing and rules
constexpr size_t kMostPerNode =
    64;  // rewrites for each node of the graph: rules that undo each other end here
// A match holds no value that is used more often than this. Where one use fewer leaves more, nothing new
// matches.
constexpr size_t kMostUsesInMatch = 8;

#ifdef NDEBUG
constexpr bool kAlwaysVerify = false;
#else
constexpr bool kAlwaysVerify = true;
#endif

class Worklist {
 public:
  explicit Worklist(const Graph& g) {
    for (BodyId b = 0; b < g.bodies(); ++b) {
      for (NodeId n : g.body(b).nodes) push(n);
    }
  }
  bool empty() const { return queue_.empty(); }
  NodeId pop() {
    const NodeId n = queue_.front();
    queue_.pop_front();
    waiting_[n] = false;
    return n;
  }
  void push(NodeId n) {
    if (n == kNoNode) return;
    if (n >= waiting_.size()) waiting_.resize(n + 1, false);
    if (waiting_[n]) return;
    waiting_[n] = true;
    queue_.push_back(n);
  }

 private:
  std::deque<NodeId> queue_;
  std::vector<bool> waiting_;
};

class Driver {
 public:
  Driver(Graph& g, const OptimizeOptions& options, const Record& record)
      : g_(g), options_(options), record_(record), work_(g) {}

  Result<size_t> run() {
    size_t applied = 0;
    const size_t most = kMostPerNode * (g_.nodes() + 1);
    while (!work_.empty() && applied < most) {
      const NodeId n = work_.pop();
      if (g_.node(n).removed) continue;
      if (stop_requested()) return check_stop();
      SX_ASSIGN(const bool fired, try_rules(n));
      applied += fired;
    }
    return applied;
  }

 private:
  bool allowed(const Rule& rule) const {
    return std::find(options_.without.begin(), options_.without.end(), rule.name) == options_.without.end();
  }

  Result<bool> try_rules(NodeId n) {
    for (const Rule& rule : all_rules()) {
      if (!allowed(rule)) continue;
      for (const Rule::Way& way : rule.ways) {
        const Node& node = g_.node(n);
        const bool fits = way.roots.empty() ||
                          (node.domain.empty() &&
                           std::find(way.roots.begin(), way.roots.end(), node.type) != way.roots.end());
        if (!fits) continue;
        const size_t nodes_before = g_.nodes();
        Patch patch = way.apply(g_, n);
        if (patch.empty()) {
          discard(nodes_before);
          continue;
        }
        if (!fits_in(patch)) {
          discard(nodes_before);
          continue;
        }
        SX_TRY(apply(rule, n, patch, nodes_before));
        return true;
      }
    }
    return false;
  }

  // What a rule built before it changed its mind.
  void discard(size_t nodes_before) {
    for (NodeId n = NodeId(g_.nodes()); n-- > nodes_before;) {
      if (!g_.node(n).removed) g_.remove_node(n);
    }
  }

  // What a body gives out is made in that body, each output by itself; a constant will do.
  bool can_be_output(ValueId old, ValueId now) const {
    if (!g_.is_output(old) || g_.value(now).is_constant()) return true;
    return g_.value(now).producer != kNoNode && g_.value(now).body == g_.value(old).body &&
           !g_.is_output(now);
  }

  // The new value must be able to stand where the old one stood.
  bool fits_in(const Patch& patch) const {
    return std::all_of(patch.replace.begin(), patch.replace.end(), [&](const auto& pair) {
      if (!can_be_output(pair.first, pair.second)) return false;
      const Type &a = g_.value(pair.first).type, &b = g_.value(pair.second).type;
      if (!a.known()) return true;
      if (a.kind != b.kind || a.elem != b.elem) return false;
      if (!a.shape.known) return true;
      if (!b.shape.known || a.shape.rank() != b.shape.rank()) return false;
      for (size_t i = 0; i < a.shape.rank(); ++i) {
        const Dim x = a.shape.dims[i], y = b.shape.dims[i];
        if (x.is_constant() && y.is_constant() && x != y) return false;
      }
      return true;
    });
  }

  Status apply(const Rule& rule, NodeId root, const Patch& patch, size_t nodes_before) {
    if (record_.wanted()) {
      Applied entry{std::string(rule.name), describe(g_, root), "", ""};
      std::vector<NodeId> matched = patch.matched;
      std::sort(matched.begin(), matched.end());
      if (matched.empty()) matched = {root};
      for (NodeId n : matched) entry.before += node_text(g_, n) + "\n";
      for (NodeId n = NodeId(nodes_before); n < g_.nodes(); ++n) entry.after += node_text(g_, n) + "\n";
      record_.add(std::move(entry));
    }
    const Node from = g_.node(root);
    for (NodeId n = NodeId(nodes_before); n < g_.nodes(); ++n) {
      Node& made = g_.node(n);
      made.origin = rule.name;
      if (made.name.empty()) made.name = from.name;
      made.version = from.version;
      work_.push(n);
    }
    for (auto [old, now] : patch.replace) replace(old, now, nodes_before);
    drop_dead(root);
    if (options_.verify || kAlwaysVerify) return g_.verify().in(format("after rule {}", rule.name));
    return {};
  }

  void replace(ValueId old, ValueId now, size_t nodes_before) {
    const Type exact = g_.value(old).type;
    const std::string name = g_.value(old).name;
    const NodeId maker = g_.value(now).producer;
    const bool fresh = maker != kNoNode && maker >= nodes_before;
    for (const Use& u : g_.value(old).uses) work_.push(u.node);
    substitute(g_, old, now);
    // Taken from inference before the rewrite: sizes that the new nodes cannot tell.
    if (fresh) {
      Type& type = g_.value(now).type;
      if (!type.shape.known || !exact.shape.known) {
        if (exact.shape.known) type.shape = exact.shape;
      } else {
        for (size_t i = 0; i < exact.shape.rank(); ++i) {
          Dim& size = type.shape.dims[i];
          if (exact.shape.dims[i].is_constant() || mentions_fresh(size)) size = exact.shape.dims[i];
        }
      }
      if (g_.value(old).has_elements && !g_.value(now).has_elements) {
        g_.value(now).elements = g_.value(old).elements;
        g_.value(now).has_elements = true;
      }
      g_.value(now).name = name;
    }
    work_.push(g_.value(now).producer);
  }

  // The root, and what only it needed.
  void drop_dead(NodeId root) {
    std::vector<NodeId> stack{root};
    while (!stack.empty()) {
      const NodeId n = stack.back();
      stack.pop_back();
      const Node& node = g_.node(n);
      const bool dead =
          !node.removed && std::all_of(node.outputs.begin(), node.outputs.end(),
                                       [&](ValueId v) { return v == kNoValue || g_.use_count(v) == 0; });
      if (!dead) {
        work_.push(n);  // one use fewer may let another rule match
        continue;
      }
      const std::vector<ValueId> inputs = node.inputs;
      g_.remove_node(n);
      for (ValueId v : inputs) {
        if (v == kNoValue) continue;
        if (g_.value(v).producer != kNoNode) stack.push_back(g_.value(v).producer);
        if (g_.use_count(v) > kMostUsesInMatch) continue;
        for (const Use& u : g_.value(v).uses) work_.push(u.node);
      }
    }
  }

  Graph& g_;
  const OptimizeOptions& options_;
  const Record& record_;
  Worklist work_;
};

}  // namespace

void Record::add(Applied entry) const {
  const std::string line = entry.rule + " at " + entry.node;
  options_.log(LogLevel::debug, line);
  if (options_.applied) options_.applied->push_back(line);
  if (options_.details) options_.details->push_back(std::move(entry));
}

std::string node_text(const Graph& graph, NodeId node) {
  const Node& n = graph.node(node);
  auto list = [&](const std::vector<ValueId>& values) {
    std::string text;
    for (ValueId v : values)
      text += (text.empty() ? "" : ", ") + (v == kNoValue ? std::string("-") : graph.value(v).name);
    return text;
  };
  return list(n.outputs) + " = " + n.type + "(" + list(n.inputs) + ")";
}

Result<size_t> apply_rules(Graph& graph, const OptimizeOptions& options, const Record& record) {
  return Driver(graph, options, record).run();
}

Status optimize(Graph& graph, const OptimizeOptions& options) {
  const Record record(options);
  Folder folder(graph, options, record);
  // What nobody needed from the beginning asks nothing of a run; what rules take away does.
  if (graph.remove_unused() > 0)
    graph.edit_guards([&](const Guard& g) { return g.node == kNoNode || !graph.node(g.node).removed; });
  for (size_t round = 0; round < kMostRounds; ++round) {
    SX_ASSIGN(size_t changed, folder.run());
    changed += inline_branches(graph, record);
    SX_ASSIGN(const size_t rewritten, apply_rules(graph, options, record));
    changed += rewritten;
    changed += share_equal(graph, record);
    changed += graph.remove_unused();
    if (changed == 0) break;
    SX_TRY(infer_graph(graph));
  }
  SX_TRY(check_stop());
  return graph.verify();
}

}  // namespace sx::passes
