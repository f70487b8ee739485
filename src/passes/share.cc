// SPDX-License-Identifier: Apache-2.0
// Common subexpressions: equal small constants become one, nodes with equal operators, inputs and attributes
// too.
#include <algorithm>
#include <unordered_map>

#include "base/hash.h"
#include "graph/op.h"
#include "passes/rule.h"
#include "passes/steps.h"

namespace sx::passes {
namespace {

constexpr size_t kSmall = 4096;  // bytes of a constant that is worth comparing

bool has_body(const Node& n) {
  return std::any_of(n.attrs.list().begin(), n.attrs.list().end(), [](const Attr& a) {
    const AttrKind k = kind_of(a.value);
    return k == AttrKind::graph || k == AttrKind::graphs;
  });
}

uint64_t hash_of(const Tensor& t) {
  uint64_t h = hash_mix(uint64_t(t.type()), t.rank());
  for (int64_t d : t.dims()) h = hash_mix(h, uint64_t(d));
  if (t.type() != DType::string) return hash_bytes(t.data(), std::min(t.bytes(), kSmall), h);
  for (const std::string& s : t.strings()) h = hash_text(s, h);
  return h;
}

// Of what attributes that many nodes of one graph may differ in; the rest is left to the comparison.
struct AttrHash {
  uint64_t operator()(int64_t v) const { return uint64_t(v); }
  uint64_t operator()(float v) const { return hash_bytes(&v, sizeof v); }
  uint64_t operator()(const std::string& v) const { return hash_text(v); }
  uint64_t operator()(const Tensor& v) const { return hash_of(v); }
  uint64_t operator()(const std::vector<int64_t>& v) const { return hash_bytes(v.data(), 8 * v.size()); }
  uint64_t operator()(const std::vector<float>& v) const { return hash_bytes(v.data(), 4 * v.size()); }
  uint64_t operator()(const std::vector<std::string>& v) const {
    uint64_t h = v.size();
    for (const std::string& s : v) h = hash_text(s, h);
    return h;
  }
  template <class T>
  uint64_t operator()(const T&) const {
    return 0;
  }
};

// Attributes may stand in any order.
uint64_t hash_of(const Node& n) {
  uint64_t h = hash_text(n.type, hash_text(n.domain));
  for (ValueId v : n.inputs) h = hash_mix(h, v);
  h = hash_mix(h, n.outputs.size());
  for (const Attr& a : n.attrs.list()) h += hash_mix(hash_text(a.name), std::visit(AttrHash(), a.value));
  return h;
}

bool same(const Node& a, const Node& b) {
  if (a.op != b.op || a.type != b.type || a.inputs != b.inputs || a.outputs.size() != b.outputs.size())
    return false;
  if (a.attrs.list().size() != b.attrs.list().size()) return false;
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    if ((a.outputs[i] == kNoValue) != (b.outputs[i] == kNoValue)) return false;
  }
  return std::all_of(a.attrs.list().begin(), a.attrs.list().end(), [&](const Attr& x) {
    const AttrValue* y = b.attrs.find(x.name);
    return y && equal(x.value, *y);
  });
}

size_t share_constants(Graph& g) {
  std::unordered_multimap<uint64_t, ValueId> seen;
  size_t changed = 0;
  for (ValueId v = 0; v < g.values(); ++v) {
    const Tensor* t = constant_of(g, v);
    if (!t || t->bytes() > kSmall || t->type() == DType::string || g.value(v).uses.empty() ||
        g.is_main_output(v))
      continue;
    const uint64_t h = hash_of(*t);
    ValueId first = kNoValue;
    for (auto [it, end] = seen.equal_range(h); it != end && first == kNoValue; ++it) {
      if (equal(AttrValue(*constant_of(g, it->second)), AttrValue(*t))) first = it->second;
    }
    if (first == kNoValue) {
      seen.emplace(h, v);
    } else {
      g.replace_uses(v, first);
      ++changed;
    }
  }
  return changed;
}

// Integer vectors that hold the same sizes are equal whatever computes them.
size_t share_sizes(Graph& g) {
  struct Known {
    BodyId body;
    ValueId value;
  };
  std::unordered_multimap<uint64_t, Known> seen;
  size_t changed = 0;
  for (BodyId b = 0; b < g.bodies(); ++b) {
    const std::vector<NodeId> nodes = g.body(b).nodes;
    for (NodeId n : nodes) {
      if (g.node(n).outputs.size() != 1 || g.node(n).outputs[0] == kNoValue) continue;
      const ValueId v = g.node(n).outputs[0];
      const ValueInfo& info = g.value(v);
      if (!info.has_elements || info.uses.empty() || g.is_output(v) || !info.type.shape.is_constant())
        continue;
      uint64_t h = hash_mix(uint64_t(info.type.elem), info.type.shape.rank());
      for (Dim d : info.elements)
        h = hash_mix(h, d.is_constant() ? uint64_t(d.constant()) : uint64_t(d.expr()->id) + (1ull << 40));
      ValueId first = kNoValue;
      for (auto [it, end] = seen.equal_range(h); it != end && first == kNoValue; ++it) {
        const ValueInfo& other = g.value(it->second.value);
        const bool equal_sizes = other.type == info.type && other.elements == info.elements;
        if (it->second.body == b && equal_sizes) first = it->second.value;
      }
      if (first == kNoValue) {
        seen.emplace(h, Known{b, v});
      } else {
        g.replace_uses(v, first);
        ++changed;
      }
    }
  }
  return changed;
}

}  // namespace

size_t share_equal(Graph& g, const Record& record) {
  size_t changed = share_constants(g) + share_sizes(g);
  for (BodyId b = 0; b < g.bodies(); ++b) {
    std::unordered_multimap<uint64_t, NodeId> seen;
    const std::vector<NodeId> nodes = g.body(b).nodes;
    for (NodeId n : nodes) {
      const Node& node = g.node(n);
      if (node.removed || !node.op || !node.op->pure || node.outputs.empty() || has_body(node)) continue;
      const uint64_t h = hash_of(node);
      NodeId first = kNoNode;
      for (auto [it, end] = seen.equal_range(h); it != end && first == kNoNode; ++it) {
        if (same(g.node(it->second), node)) first = it->second;
      }
      const bool named = std::any_of(node.outputs.begin(), node.outputs.end(),
                                     [&](ValueId v) { return v != kNoValue && g.is_main_output(v); });
      if (first == kNoNode || named) {
        if (first == kNoNode) seen.emplace(h, n);
        continue;
      }
      if (record.wanted()) record.add({"share", describe(g, n), node_text(g, n), node_text(g, first)});
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] != kNoValue) g.replace_uses(node.outputs[i], g.node(first).outputs[i]);
      }
      g.remove_node(n);
      ++changed;
    }
  }
  return changed;
}

}  // namespace sx::passes
