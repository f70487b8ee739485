// SPDX-License-Identifier: Apache-2.0
// The invariants of a Graph, and the order of its nodes.
#include <algorithm>

#include "base/format.h"
#include "graph/graph.h"
#include "graph/op.h"

namespace sx {
namespace {

std::vector<BodyId> bodies_of(const Node& node) {
  std::vector<BodyId> ids;
  for (const Attr& a : node.attrs.list()) {
    if (const auto* one = std::get_if<BodyRef>(&a.value)) ids.push_back(one->id);
    if (const auto* many = std::get_if<std::vector<BodyRef>>(&a.value)) {
      for (BodyRef b : *many) ids.push_back(b.id);
    }
  }
  return ids;
}

class Verifier {
 public:
  explicit Verifier(const Graph& g) : g_(g), defined_(g.values(), false), visited_(g.nodes(), false) {}

  Status run() {
    SX_TRY(body(kMainBody, kNoNode, 0));
    for (NodeId n = 0; n < g_.nodes(); ++n) {
      if (!g_.node(n).removed && !visited_[n]) {
        return broken("{} is not removed and stands in no body", describe(g_, n));
      }
    }
    return uses();
  }

 private:
  template <class... Args>
  static Status broken(fmt::format_string<Args...> text, Args&&... args) {
    return Status(Code::internal, fmt::vformat(text, fmt::make_format_args(args...)));
  }

  bool readable(ValueId v) const { return v < g_.values() && (defined_[v] || g_.value(v).is_constant()); }
  Status unreadable(ValueId v, const std::string& by) const {
    if (v >= g_.values()) return broken("{} names value {}, there are {}", by, v, g_.values());
    return broken("{} reads '{}', which is not defined there", by, g_.value(v).name);
  }

  Status body(BodyId b, NodeId owner, int depth) {
    const Body& body = g_.body(b);
    if (body.owner != owner) return broken("body {} names another owner than the node that holds it", b);
    if (depth > 200) return broken("bodies are nested more than 200 deep");
    // A group lists all its operands as inputs, also those with known contents.
    const Op* op = owner == kNoNode ? nullptr : g_.node(owner).op;
    const bool group = op && op->domain == "sx" && op->name == "Group";
    std::vector<ValueId> here;
    for (ValueId v : body.inputs) {
      if (v >= g_.values()) return broken("body {} has an input that does not exist", b);
      if (g_.value(v).body != b || g_.value(v).producer != kNoNode || (g_.value(v).is_constant() && !group)) {
        return broken("input '{}' of body {} is made elsewhere", g_.value(v).name, b);
      }
      defined_[v] = true;
      here.push_back(v);
    }
    for (NodeId n : body.nodes) SX_TRY(node(n, b, depth, here));
    for (ValueId v : body.outputs) {
      if (!readable(v)) return unreadable(v, format("body {}", b));
    }
    if (b != kMainBody) {
      for (ValueId v : here) defined_[v] = false;  // out of scope again
    }
    return {};
  }

  Status node(NodeId n, BodyId b, int depth, std::vector<ValueId>& here) {
    if (n >= g_.nodes()) return broken("body {} names node {}, there are {}", b, n, g_.nodes());
    const Node& node = g_.node(n);
    if (node.removed || node.body != b)
      return broken("{} stands in body {} but is removed or belongs elsewhere", describe(g_, n), b);
    if (visited_[n]) return broken("{} stands in two places", describe(g_, n));
    visited_[n] = true;
    for (ValueId v : node.inputs) {
      if (v != kNoValue && !readable(v)) return unreadable(v, describe(g_, n));
    }
    for (BodyId inner : bodies_of(node)) {
      if (inner == kMainBody || inner >= g_.bodies())
        return broken("{} names body {}, which cannot be", describe(g_, n), inner);
      SX_TRY(body(inner, n, depth + 1));
    }
    for (uint32_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId v = node.outputs[i];
      if (v == kNoValue) continue;
      if (v >= g_.values()) return broken("{} makes value {}, there are {}", describe(g_, n), v, g_.values());
      const ValueInfo& value = g_.value(v);
      if (value.producer != n || value.producer_output != i || value.body != b || value.is_constant()) {
        return broken("{} makes '{}', which does not name it as its producer", describe(g_, n), value.name);
      }
      defined_[v] = true;
      here.push_back(v);
    }
    return {};
  }

  // Entry `at` of a value's list is the edge from slot `i` of a node or body that names the value and the
  // entry.
  template <class End>
  static bool listed_rightly(const std::vector<ValueId>& values, const End& end, size_t i, ValueId v,
                             size_t at) {
    return i < values.size() && values[i] == v && end.use_at[i] == at;
  }

  Status uses() const {
    size_t listed = 0, real = 0;
    for (ValueId v = 0; v < g_.values(); ++v) {
      const ValueInfo& value = g_.value(v);
      listed += g_.use_count(v);
      for (size_t k = 0; k < value.uses.size(); ++k) {
        const Use u = value.uses[k];
        if (u.node >= g_.nodes() || !listed_rightly(g_.node(u.node).inputs, g_.node(u.node), u.input, v, k)) {
          return broken("'{}' lists a use that is not there", value.name);
        }
      }
      for (size_t k = 0; k < value.output_uses.size(); ++k) {
        const OutputUse u = value.output_uses[k];
        if (u.body >= g_.bodies() ||
            !listed_rightly(g_.body(u.body).outputs, g_.body(u.body), u.output, v, k)) {
          return broken("'{}' lists a body's output that is not there", value.name);
        }
      }
    }
    for (BodyId b = 0; b < g_.bodies(); ++b) real += g_.body(b).outputs.size();
    for (NodeId n = 0; n < g_.nodes(); ++n) {
      const auto& in = g_.node(n).inputs;
      real += size_t(std::count_if(in.begin(), in.end(), [](ValueId v) { return v != kNoValue; }));
    }
    if (listed != real) return broken("values list {} uses, nodes and bodies have {}", listed, real);
    return {};
  }

  const Graph& g_;
  std::vector<bool> defined_, visited_;
};

// The nodes of one body in an order where producers come first; otherwise as they stood.
class Sorter {
 public:
  Sorter(const Graph& g, BodyId body) : g_(g), body_(body), state_(g.nodes(), State::waiting) {}

  Result<std::vector<NodeId>> run() {
    for (NodeId n : g_.body(body_).nodes) SX_TRY(visit(n));
    return std::move(order_);
  }

 private:
  enum class State : uint8_t { waiting, open, done };
  struct Frame {
    NodeId node;
    std::vector<NodeId> needs;
    size_t next = 0;
  };

  // Producers in this body of what the node reads, also through the bodies that it holds.
  std::vector<NodeId> needs(NodeId n) const {
    std::vector<NodeId> found, inside{n};
    auto add = [&](ValueId v) {
      if (v != kNoValue && g_.value(v).body == body_ && g_.value(v).producer != kNoNode) {
        found.push_back(g_.value(v).producer);
      }
    };
    while (!inside.empty()) {
      const Node& node = g_.node(inside.back());
      inside.pop_back();
      for (ValueId v : node.inputs) add(v);
      for (BodyId b : bodies_of(node)) {
        for (ValueId v : g_.body(b).outputs) add(v);
        inside.insert(inside.end(), g_.body(b).nodes.begin(), g_.body(b).nodes.end());
      }
    }
    return found;
  }

  Status visit(NodeId root) {
    if (state_[root] == State::done) return {};
    std::vector<Frame> stack;
    auto open = [&](NodeId n) {
      state_[n] = State::open;
      stack.push_back({n, needs(n)});
    };
    open(root);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next == top.needs.size()) {
        state_[top.node] = State::done;
        order_.push_back(top.node);
        stack.pop_back();
        continue;
      }
      const NodeId need = top.needs[top.next++];
      if (state_[need] == State::open) return cycle(stack, need);
      if (state_[need] == State::waiting) open(need);
    }
    return {};
  }

  Status cycle(const std::vector<Frame>& stack, NodeId again) const {
    std::string path = describe(g_, again);
    size_t named = 1;
    for (auto it = stack.rbegin(); it != stack.rend() && it->node != again; ++it) {
      if (++named > 6) {
        path += ", …";
        break;
      }
      path += ", which needs " + describe(g_, it->node);
    }
    return error(Code::invalid_model, "the graph has a cycle: {}, and so on around", path);
  }

  const Graph& g_;
  BodyId body_;
  std::vector<State> state_;
  std::vector<NodeId> order_;
};

}  // namespace

Status Graph::verify() const { return Verifier(*this).run(); }

Status Graph::sort(BodyId body) {
  SX_ASSIGN(const std::vector<NodeId> order, Sorter(*this, body).run());
  bodies_[body].nodes = {};
  for (NodeId n : order) nodes_[n].place = bodies_[body].nodes.insert(n);
  return {};
}

}  // namespace sx
