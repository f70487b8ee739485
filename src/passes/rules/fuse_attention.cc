// SPDX-License-Identifier: Apache-2.0
// softmax(q · kᵀ · scale + mask) · v, as exporters write it out, is Attention(q, k, v, mask).
//
// The scale may stand at q, at k, at the product, or in parts at several. PyTorch follows the softmax with
// Where(IsNaN(p), 0, p), which makes rows that the mask closes entirely zero; Attention says the same itself.
// docs/decisions/0007-attention-written-out.md says where the two differ.
#include <cmath>

#include "passes/rule.h"

namespace sx::passes {
namespace {

constexpr double kClosed = -1e30;  // a mask value that no score survives

struct Parts {
  ValueId q = kNoValue, k = kNoValue, v = kNoValue, mask = kNoValue;
  std::vector<int64_t> k_perm;  // brings `k` to the form of q; empty: it has it
  double scale = 1;
  double fill = 0;              // the score where a boolean mask is closed; 0: the mask is added
  bool open_where_true = true;  // of a boolean mask
  std::vector<NodeId> nodes;    // of the match
};

class Finder {
 public:
  Finder(const Graph& g, NodeId root, Parts& p) : g_(g), root_(root), p_(p) {}

  bool find() {
    const Node& product = g_.node(root_);
    p_.v = product.inputs[1];
    p_.nodes.push_back(root_);
    ValueId weights = skip_guard(product.inputs[0]);
    const Node* softmax = producer(g_, weights, "Softmax");
    if (!softmax || !shape_of(g_, weights).known) return false;
    const int64_t rank = int64_t(shape_of(g_, weights).rank()), axis = softmax->attrs.integer("axis", -1);
    if ((rank != 4 && rank != 3) || (axis != -1 && axis != rank - 1)) return false;
    take(weights);
    return scores(softmax->inputs[0]) && shapes(size_t(rank));
  }

 private:
  void take(ValueId v) { p_.nodes.push_back(g_.value(v).producer); }

  // Where(IsNaN(p), 0, p) → p, if nothing else looks at it.
  ValueId skip_guard(ValueId v) {
    const Node* where = producer(g_, v, "Where");
    double zero = 1;
    if (!where || !one_number(g_, where->inputs[1], zero) || zero != 0 || !used_once(g_, v)) {
      return used_once(g_, v) ? v : kNoValue;
    }
    const ValueId p = where->inputs[2];
    const Node* nan = producer(g_, where->inputs[0], "IsNaN");
    if (!nan || nan->inputs[0] != p || !used_once(g_, where->inputs[0]) || g_.use_count(p) != 2)
      return kNoValue;
    take(v);
    take(where->inputs[0]);
    return p;
  }

  // Multiplications and divisions by one number.
  ValueId skip_scale(ValueId v, bool alone) {
    while (true) {
      if (alone && !used_once(g_, v)) return v;
      const Node* mul = producer(g_, v, "Mul");
      const Node* div = producer(g_, v, "Div");
      double number = 0;
      ValueId next = kNoValue;
      if (mul && one_number(g_, mul->inputs[1], number))
        next = mul->inputs[0];
      else if (mul && one_number(g_, mul->inputs[0], number))
        next = mul->inputs[1];
      else if (div && one_number(g_, div->inputs[1], number) && number != 0)
        next = div->inputs[0];
      if (next == kNoValue || shape_of(g_, next) != shape_of(g_, v)) return v;
      p_.scale *= div ? 1 / number : number;
      if (alone) take(v);
      v = next;
    }
  }

  bool scores(ValueId v) {
    if (!used_once(g_, v)) return false;
    if (const Node* add = producer(g_, v, "Add")) {
      for (size_t side = 0; side < 2; ++side) {
        const Parts before = p_;
        p_.mask = add->inputs[1 - side];
        take(v);
        if (shape_of(g_, add->inputs[side]) == shape_of(g_, v) && product(add->inputs[side])) return true;
        p_ = before;
      }
      return false;
    }
    if (const Node* where = producer(g_, v, "Where")) return masked(v, *where);
    return product(v);
  }

  // Where(open, scores, fill) or Where(closed, fill, scores).
  bool masked(ValueId v, const Node& where) {
    p_.mask = where.inputs[0];
    p_.open_where_true = one_number(g_, where.inputs[2], p_.fill);
    if (!p_.open_where_true && !one_number(g_, where.inputs[1], p_.fill)) return false;
    const ValueId inner = where.inputs[p_.open_where_true ? 1 : 2];
    take(v);
    return p_.fill <= kClosed && shape_of(g_, inner) == shape_of(g_, v) && product(inner);
  }

  bool product(ValueId v) {
    v = skip_scale(v, true);
    const Node* product = producer(g_, v, "MatMul");
    if (!product || !used_once(g_, v)) return false;
    take(v);
    p_.q = skip_scale(product->inputs[0], false);
    const ValueId turned = skip_scale(product->inputs[1], false);
    if (!shape_of(g_, turned).known) return false;
    if (const Node* transpose = producer(g_, turned, "Transpose")) {
      p_.k = skip_scale(transpose->inputs[0], false);
      p_.k_perm = permutation(*transpose, shape_of(g_, turned).rank());
    } else if (const Node* reshape = producer(g_, turned, "Reshape");
               reshape && producer(g_, reshape->inputs[0], "Transpose")) {
      // Heads split off after the keys were turned: turned back here, and merge_batched_transpose makes it
      // one turn.
      p_.k = turned;
      for (size_t i = 0; i < shape_of(g_, turned).rank(); ++i) p_.k_perm.push_back(int64_t(i));
    } else {
      return false;
    }
    if (p_.k_perm.size() < 3) return false;
    std::swap(p_.k_perm[p_.k_perm.size() - 1], p_.k_perm[p_.k_perm.size() - 2]);
    return p_.scale > 0 && std::isfinite(p_.scale);
  }

  bool shapes(size_t rank) const {
    const Shape &q = shape_of(g_, p_.q), &k = shape_of(g_, p_.k), &v = shape_of(g_, p_.v);
    if (!q.known || !k.known || !v.known || q.rank() != rank || k.rank() != rank || v.rank() != rank)
      return false;
    for (size_t i = 0; i + 2 < rank; ++i) {
      if (q.dims[i] != v.dims[i] || q.dims[i] != k.dims[size_t(p_.k_perm[i])]) return false;
    }
    const Dim keys = k.dims[size_t(p_.k_perm[rank - 2])];
    if (v.dims[rank - 2] != keys || !dtype_is_float(elem_of(g_, p_.q))) return false;
    if (p_.mask == kNoValue) return true;
    // A mask that is shorter than the keys would mean something else to Attention.
    const Shape& m = shape_of(g_, p_.mask);
    return m.known && m.rank() >= 1 && m.rank() <= rank && m.dims.back() == keys;
  }

  const Graph& g_;
  NodeId root_;
  Parts& p_;
};

ValueId make_mask(Builder& b, const Parts& p, DType type) {
  if (p.mask == kNoValue || p.fill == 0) return p.mask;
  const ValueId open = b.constant(scalar_of(type, 0)), closed = b.constant(scalar_of(type, p.fill));
  return p.open_where_true ? b.op("Where", {p.mask, open, closed}) : b.op("Where", {p.mask, closed, open});
}

bool moves(const std::vector<int64_t>& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != int64_t(i)) return true;
  }
  return false;
}

Patch fuse(Graph& g, NodeId n) {
  Parts p;
  if (!Finder(g, n, p).find()) return {};
  const DType type = elem_of(g, p.q);
  const bool three = shape_of(g, p.q).rank() == 3;
  const ValueId y = g.node(n).outputs[0];
  Builder b(g, g.node(n).body, n);
  ValueId q = p.q, k = moves(p.k_perm) ? b.op("Transpose", {p.k}, {{"perm", p.k_perm}}) : p.k, v = p.v;
  const ValueId mask = make_mask(b, p, type);
  if (three) {
    const ValueId front = b.ints({0});
    q = b.op("Unsqueeze", {q, front});
    k = b.op("Unsqueeze", {k, front});
    v = b.op("Unsqueeze", {v, front});
  }
  std::vector<ValueId> inputs = {q, k, v};
  if (mask != kNoValue) inputs.push_back(mask);
  ValueId made = b.op("Attention", inputs, {{"scale", float(p.scale)}});
  if (three) made = b.op("Squeeze", {made, b.ints({0})});
  if (!b.status().ok()) return {};
  Patch patch = Patch::with(y, made);
  patch.matched = p.nodes;
  return patch;
}

}  // namespace

Rule fuse_attention() { return rule({"MatMul"}, fuse); }

}  // namespace sx::passes
