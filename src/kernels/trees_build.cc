// SPDX-License-Identifier: Apache-2.0
// Laying out a tree ensemble. Tests of order all become x <= threshold, which is exact: x < t is x <= the
// float before t, and the opposite tests exchange their children.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/format.h"
#include "kernels/trees.h"

namespace sx::kernels {

constexpr size_t kMaxCompleteDepth = 8;
constexpr size_t kMaxWidth = 16;  // targets of one tree that its leaves keep side by side
constexpr size_t kMostSharing = 8;

class TreeBuilder {
 public:
  explicit TreeBuilder(TreeSpec spec) : spec_(std::move(spec)) {}

  Result<TreeEnsemble> build() {
    SX_TRY(check());
    out_.features_ = spec_.features;
    out_.targets_ = spec_.targets;
    out_.trees_ = spec_.roots.size();
    out_.aggregate_ = spec_.aggregate;
    out_.base_ = std::move(spec_.base);
    out_.members_ = std::move(spec_.members);
    for (const TreeNode& n : spec_.nodes) tested_ = tested_ || n.test > TreeTest::greater;
    for (size_t t = 0; t < spec_.roots.size(); ++t) SX_TRY(add_tree(t));
    const bool numbered = std::any_of(out_.groups_.begin(), out_.groups_.end(),
                                      [](const TreeEnsemble::Group& g) { return g.width == 0; });
    if (numbered) {
      out_.leaves_ = std::move(spec_.leaves);
      out_.weights_ = std::move(spec_.weights);
    }
    return std::move(out_);
  }

 private:
  struct Shape {
    uint32_t depth = 0;
    size_t leaves = 0;
    bool ordered = true;                    // no equality or membership
    bool single = true;                     // no leaf has two weights for one target, or none at all
    uint32_t target = UINT32_MAX, end = 0;  // every weight is for one of [target, end)
    size_t weights = 0;
  };
  struct Ordered {
    float threshold;
    uint32_t feature;
    int32_t left, right;
  };

  Status check() const {
    const size_t nodes = spec_.nodes.size(), leaves = spec_.leaves.size();
    if (!spec_.base.empty() && spec_.base.size() != spec_.targets)
      return error(Code::invalid_argument, "tree ensemble has {} base values for {} targets",
                   spec_.base.size(), spec_.targets);
    const auto child_ok = [&](int32_t c) {
      return c >= 0 ? static_cast<size_t>(c) < nodes : static_cast<size_t>(~c) < leaves;
    };
    for (size_t i = 0; i < nodes; ++i) {
      const TreeNode& n = spec_.nodes[i];
      if (n.feature >= spec_.features)
        return error(Code::invalid_argument, "tree node {} tests feature {}, there are {}", i, n.feature,
                     spec_.features);
      if (!child_ok(n.if_true) || !child_ok(n.if_false))
        return error(Code::invalid_argument, "tree node {} has a child that does not exist", i);
      if (n.test == TreeTest::member &&
          (n.member_first > spec_.members.size() || n.member_count > spec_.members.size() - n.member_first))
        return error(Code::invalid_argument, "tree node {} names members that do not exist", i);
    }
    for (size_t i = 0; i < leaves; ++i) {
      const TreeLeaf& l = spec_.leaves[i];
      if (l.first > spec_.weights.size() || l.count > spec_.weights.size() - l.first)
        return error(Code::invalid_argument, "tree leaf {} names weights that do not exist", i);
    }
    for (const TreeWeight& w : spec_.weights)
      if (w.target >= spec_.targets)
        return error(Code::invalid_argument, "tree weight is for target {}, there are {}", w.target,
                     spec_.targets);
    for (int32_t root : spec_.roots)
      if (!child_ok(root)) return error(Code::invalid_argument, "a tree's root does not exist");
    return ok_status();
  }

  // Walks a tree without recursion; more nodes on the way than exist mean a loop. Trees that share nodes are
  // laid out once each, which has an end too.
  Status measure(int32_t root, Shape& shape) {
    open_.assign(1, {root, 0});
    size_t visited = 0;
    while (!open_.empty()) {
      const auto [at, depth] = open_.back();
      open_.pop_back();
      shape.depth = std::max(shape.depth, depth);
      if (at < 0) {
        ++shape.leaves;
        add_leaf(spec_.leaves[static_cast<size_t>(~at)], shape);
        continue;
      }
      if (++visited > spec_.nodes.size()) return error(Code::invalid_argument, "a tree's nodes form a loop");
      if (++walked_ > kMostSharing * spec_.nodes.size())
        return error(Code::invalid_argument, "{} trees share {} nodes, each node more than {} times",
                     spec_.roots.size(), spec_.nodes.size(), kMostSharing);
      const TreeNode& n = spec_.nodes[static_cast<size_t>(at)];
      shape.ordered = shape.ordered && n.test <= TreeTest::greater;
      open_.push_back({n.if_true, depth + 1});
      open_.push_back({n.if_false, depth + 1});
    }
    return ok_status();
  }

  void add_leaf(const TreeLeaf& leaf, Shape& shape) const {
    shape.single = shape.single && leaf.count > 0;
    shape.weights += leaf.count;
    for (uint32_t i = 0; i < leaf.count; ++i) {
      const uint32_t target = spec_.weights[leaf.first + i].target;
      shape.target = std::min(shape.target, target);
      shape.end = std::max(shape.end, target + 1);
      shape.single = shape.single && (i == 0 || target > spec_.weights[leaf.first + i - 1].target);
    }
  }

  // How many values each leaf keeps in place of its number: all its weights, if that wastes little. A zero
  // stands for a target that a leaf does not speak of, which only sums allow.
  uint8_t width_of(const Shape& shape, TreeEnsemble::Kind kind) const {
    const size_t width = shape.end - std::min(shape.target, shape.end), all = width * shape.leaves;
    if (!shape.single || width == 0) return 0;
    if (kind != TreeEnsemble::Kind::complete) return width == 1;
    const bool adds = spec_.aggregate <= TreeAggregate::average;
    const bool dense = shape.weights == all || (adds && 2 * shape.weights >= all);
    return dense && width <= kMaxWidth ? static_cast<uint8_t>(width) : 0;
  }

  Ordered order(const TreeNode& n) {
    const bool strict = n.test == TreeTest::less || n.test == TreeTest::greater_equal;
    const bool swapped = n.test == TreeTest::greater || n.test == TreeTest::greater_equal;
    const float inf = std::numeric_limits<float>::infinity();
    float t = n.threshold;
    // Below -infinity there is nothing: NaN is never reached.
    if (strict) t = t == -inf ? std::numeric_limits<float>::quiet_NaN() : std::nextafter(t, -inf);
    // Nothing is greater than NaN: every number goes to the false side, which is then the left one.
    if (swapped && std::isnan(n.threshold)) t = inf;
    // A swapped test is false for NaN, which is then the left side, unless NaN counts as true.
    const bool nan_left = swapped ? !n.nan_is_true : n.nan_is_true;
    out_.nan_left_ = out_.nan_left_ || nan_left;
    return {t, n.feature | (nan_left ? kNanLeft : 0), swapped ? n.if_false : n.if_true,
            swapped ? n.if_true : n.if_false};
  }

  // A leaf's one value, or its number.
  float leaf_value(int32_t child, uint8_t width) const {
    const uint32_t leaf = static_cast<uint32_t>(~child);
    if (width) return spec_.weights[spec_.leaves[leaf].first].value;
    float bits;
    std::memcpy(&bits, &leaf, sizeof bits);
    return bits;
  }

  Status add_tree(size_t t) {
    Shape shape;
    SX_TRY(measure(spec_.roots[t], shape));
    const size_t full = size_t{1} << std::min<uint32_t>(shape.depth, 30);
    TreeEnsemble::Kind kind = TreeEnsemble::Kind::tested;
    if (shape.ordered) {
      const bool small = shape.depth <= 6 || (shape.depth <= kMaxCompleteDepth && full <= 8 * shape.leaves);
      kind = small ? TreeEnsemble::Kind::complete : TreeEnsemble::Kind::linked;
    }
    const uint8_t width = width_of(shape, kind);
    TreeEnsemble::Tree tree = {width ? shape.target : 0, 0, shape.depth};
    TreeEnsemble::Group group = {
        kind, 0, width, static_cast<uint32_t>(t), 1, out_.splits_.size(), out_.leaf_values_.size()};
    if (kind == TreeEnsemble::Kind::complete) {
      group.depth = static_cast<uint8_t>(shape.depth);
      out_.splits_.resize(group.splits + full, {0.0f, 0});
      out_.leaf_values_.resize(group.leaves + full * std::max<size_t>(1, width));
      complete(spec_.roots[t], 0, 0, group, tree.target);
    } else {
      tree.root = static_cast<uint32_t>(out_.links_.size());
      link(spec_.roots[t], width);
    }
    out_.tree_.push_back(tree);
    TreeEnsemble::Group* last = out_.groups_.empty() ? nullptr : &out_.groups_.back();
    if (last && last->kind == kind && last->depth == group.depth && last->width == group.width)
      ++last->count;
    else
      out_.groups_.push_back(group);
    return ok_status();
  }

  // Node k of level d; a leaf above the last level is repeated below it. The depth is at most
  // kMaxCompleteDepth.
  void complete(int32_t at, size_t k, size_t d, const TreeEnsemble::Group& g, uint32_t target) {
    if (d == g.depth) {
      float* values = out_.leaf_values_.data() + g.leaves + k - ((size_t{1} << d) - 1);
      if (g.width <= 1) {
        *values = leaf_value(at, g.width);
        return;
      }
      const TreeLeaf& leaf = spec_.leaves[static_cast<size_t>(~at)];
      for (uint32_t i = leaf.first; i < leaf.first + leaf.count; ++i)
        values[size_t{spec_.weights[i].target - target} << d] = spec_.weights[i].value;
      return;
    }
    if (at < 0) {
      complete(at, 2 * k + 1, d + 1, g, target);
      complete(at, 2 * k + 2, d + 1, g, target);
      return;
    }
    const Ordered o = order(spec_.nodes[static_cast<size_t>(at)]);
    out_.splits_[g.splits + k] = {o.threshold, o.feature};
    complete(o.left, 2 * k + 1, d + 1, g, target);
    complete(o.right, 2 * k + 2, d + 1, g, target);
  }

  // Nodes in depth-first order, so that the first child usually follows its parent.
  void link(int32_t root, uint8_t width) {
    struct Open {
      int32_t at;
      uint32_t parent;
      int side;
    };
    std::vector<Open> open = {{root, 0, -1}};
    while (!open.empty()) {
      const Open o = open.back();
      open.pop_back();
      const uint32_t self = static_cast<uint32_t>(out_.links_.size());
      if (o.side >= 0) out_.links_[o.parent].child[o.side] = self;
      if (tested_) out_.tests_.push_back({});
      if (o.at < 0) {
        out_.links_.push_back({leaf_value(o.at, width), 0, {self, self}});
        continue;
      }
      const TreeNode& n = spec_.nodes[static_cast<size_t>(o.at)];
      Ordered split = {n.threshold, n.feature, n.if_true, n.if_false};
      if (tested_) add_test(n);
      if (n.test <= TreeTest::greater) {
        split = order(n);
        if (tested_) out_.tests_.back().test = TreeTest::less_equal;
      }
      out_.links_.push_back({split.threshold, split.feature, {self, self}});
      open.push_back({split.right, self, 1});
      open.push_back({split.left, self, 0});
    }
  }

  // A set of whole numbers below 4096 becomes bits, any other is searched.
  void add_test(const TreeNode& n) {
    TreeEnsemble::Test test = {n.test, n.nan_is_true, n.member_first, n.member_count, 0, 0};
    if (n.test == TreeTest::member) {
      const auto first = out_.members_.begin() + n.member_first, last = first + n.member_count;
      bool whole = true;
      float top = 0;
      for (auto m = first; m != last; ++m) {
        whole = whole && *m >= 0 && *m < 4096 && *m == std::floor(*m);
        top = std::max(top, *m);
      }
      if (whole) {
        test.bits_first = static_cast<uint32_t>(out_.bits_.size());
        test.bits_count = static_cast<uint32_t>(top) / 64 + 1;
        out_.bits_.resize(out_.bits_.size() + test.bits_count);
        for (auto m = first; m != last; ++m) {
          const uint32_t v = static_cast<uint32_t>(*m);
          out_.bits_[test.bits_first + v / 64] |= uint64_t{1} << v % 64;
        }
      } else {
        std::sort(first, last);
      }
    }
    out_.tests_.back() = test;
  }

  TreeSpec spec_;
  TreeEnsemble out_;
  bool tested_ = false;
  size_t walked_ = 0;                               // nodes of all trees so far
  std::vector<std::pair<int32_t, uint32_t>> open_;  // (node, depth) still to visit
};

Result<TreeEnsemble> TreeEnsemble::build(TreeSpec spec) { return TreeBuilder(std::move(spec)).build(); }

}  // namespace sx::kernels
