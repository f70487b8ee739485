// SPDX-License-Identifier: Apache-2.0
#include "forest.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/format.h"

namespace sx::cpu {
namespace {

using kernels::TreeLeaf;
using kernels::TreeNode;
using kernels::TreeSpec;
using kernels::TreeTest;
using Ints = std::vector<int64_t>;

constexpr TreeTest kTests[] = {TreeTest::less_equal, TreeTest::less,  TreeTest::greater_equal,
                               TreeTest::greater,    TreeTest::equal, TreeTest::not_equal,
                               TreeTest::member};  // as TreeEnsemble numbers them
constexpr std::string_view kTestNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                           "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};

constexpr size_t kMostVisits = 20;  // of nodes and leaves, on average; TreeEnsemble::build allows fewer

const Ints& ints_in(const Attrs& attrs, std::string_view name) {
  static const Ints none;
  const auto* list = attrs.get<Ints>(name);
  return list ? *list : none;
}

Status expect_sizes(std::string_view what, size_t expected, std::initializer_list<size_t> sizes) {
  for (size_t s : sizes) {
    if (s != expected)
      return error(Code::invalid_model, "lists of {} have {} and {} entries", what, expected, s);
  }
  return {};
}

Status set_feature(TreeSpec& spec, TreeNode& node, int64_t feature) {
  if (feature < 0 || feature > INT32_MAX) return error(Code::invalid_model, "feature {} cannot be", feature);
  node.feature = uint32_t(feature);
  spec.features = std::max(spec.features, size_t(feature) + 1);
  return {};
}

Status check_target(int64_t target, size_t targets) {
  if (target >= 0 && size_t(target) < targets) return {};
  return error(Code::invalid_model, "a leaf speaks of target {}, there are {}", target, targets);
}

// Finds entries by tree and node id. They nearly always lie in order, without gaps: then a neighbour's
// distance tells the place.
class NodeIndex {
 public:
  NodeIndex(const Ints& trees, const Ints& ids) : trees_(trees), ids_(ids) {
    size_t k = 1;
    while (k < ids.size() && key(k - 1) < key(k)) ++k;
    if (k >= ids.size()) return;
    order_.resize(ids.size());
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = uint32_t(i);
    std::stable_sort(order_.begin(), order_.end(), [&](uint32_t x, uint32_t y) { return key(x) < key(y); });
  }
  Status check() const {
    for (size_t k = 1; k < order_.size(); ++k) {
      if (key(order_[k - 1]) == key(order_[k]))
        return error(Code::invalid_model, "tree {} has two nodes {}", trees_[order_[k]], ids_[order_[k]]);
    }
    return {};
  }
  // The entry that is k-th by tree and id.
  uint32_t at(size_t k) const { return order_.empty() ? uint32_t(k) : order_[k]; }

  Result<uint32_t> find(int64_t tree, int64_t id, size_t near) const {
    const uint64_t guess = uint64_t(near) + uint64_t(id) - uint64_t(ids_[near]);
    if (guess < ids_.size() && trees_[guess] == tree && ids_[guess] == id) return uint32_t(guess);
    const std::pair<int64_t, int64_t> wanted(tree, id);
    size_t low = 0, high = ids_.size();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (key(at(middle)) < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == ids_.size() || key(at(low)) != wanted)
      return error(Code::invalid_model, "tree {} has no node {}", tree, id);
    return at(low);
  }

 private:
  std::pair<int64_t, int64_t> key(size_t k) const { return {trees_[k], ids_[k]}; }
  const Ints &trees_, &ids_;
  std::vector<uint32_t> order_;  // empty: as they lie
};

// The root of a tree is the first of its splits that is no child, or its one leaf; other nodes that are no
// children cannot be reached.
Status add_roots(TreeSpec& spec, const Ints& trees, const NodeIndex& index, const std::vector<bool>& is_child,
                 std::span<const int32_t> child_of) {
  std::vector<uint32_t> roots;
  for (size_t k = 0; k < trees.size();) {
    const int64_t tree = trees[index.at(k)];
    uint32_t root = UINT32_MAX, leaf = UINT32_MAX;
    bool splits = false;
    for (; k < trees.size() && trees[index.at(k)] == tree; ++k) {
      const uint32_t at = index.at(k);
      splits = splits || child_of[at] >= 0;
      uint32_t& first = child_of[at] >= 0 ? root : leaf;
      if (!is_child[at]) first = std::min(first, at);
    }
    if (splits && root == UINT32_MAX)
      return error(Code::invalid_model, "the nodes of tree {} form a loop", tree);
    roots.push_back(splits ? root : leaf);
  }
  std::sort(roots.begin(), roots.end());
  for (uint32_t root : roots) spec.roots.push_back(child_of[root]);
  return {};
}

// Weights of each leaf next to each other, in the order of the lists; those of nodes that are no leaves do
// not count. `child_of` has the node or leaf that each entry became.
Status add_weights(TreeSpec& spec, const Attrs& attrs, const std::string& prefix, const NodeIndex& index,
                   std::span<const int32_t> child_of) {
  const Ints &trees = ints_in(attrs, prefix + "_treeids"), &ids = ints_in(attrs, prefix + "_nodeids");
  const Ints& target = ints_in(attrs, prefix + "_ids");
  const std::span<const float> values = floats_of(attrs, prefix + "_weights");
  SX_TRY(expect_sizes("weights", ids.size(), {trees.size(), target.size(), values.size()}));
  if (ids.empty()) return {};
  if (child_of.empty()) return Status(Code::invalid_model, "there are weights and no nodes");
  std::vector<int32_t> child(ids.size());
  uint32_t near = 0;
  for (size_t k = 0; k < ids.size(); ++k) {
    SX_ASSIGN(near, index.find(trees[k], ids[k], near));
    SX_TRY(check_target(target[k], spec.targets));
    child[k] = child_of[near];
    if (child[k] < 0) ++spec.leaves[size_t(~child[k])].count;
  }
  uint32_t total = 0;
  for (TreeLeaf& leaf : spec.leaves) {
    leaf.first = total;
    total += leaf.count;
    leaf.count = 0;
  }
  spec.weights.resize(total);
  for (size_t k = 0; k < ids.size(); ++k) {
    if (child[k] >= 0) continue;
    TreeLeaf& leaf = spec.leaves[size_t(~child[k])];
    spec.weights[leaf.first + leaf.count++] = {uint32_t(target[k]), values[k]};
  }
  return {};
}

}  // namespace

std::span<const float> floats_of(const Attrs& attrs, const std::string& name) {
  if (const auto* list = attrs.get<std::vector<float>>(name)) return *list;
  const Tensor* t = attrs.get<Tensor>(name + "_as_tensor");
  return t && t->type() == DType::f32 ? t->as<float>() : std::span<const float>();
}

const std::vector<std::string>& texts_of(const Attrs& attrs, std::string_view name) {
  static const std::vector<std::string> none;
  const auto* list = attrs.get<std::vector<std::string>>(name);
  return list ? *list : none;
}

std::string refuse_unless_f32_trees(const Attrs& attrs) {
  for (std::string_view name :
       {"nodes_values_as_tensor", "base_values_as_tensor", "class_weights_as_tensor",
        "target_weights_as_tensor", "nodes_splits", "leaf_weights", "membership_values"}) {
    const Tensor* t = attrs.get<Tensor>(name);
    if (t && t->type() != DType::f32) return format("{} is {}, not float32", name, dtype_name(t->type()));
  }
  const Tensor* modes = attrs.get<Tensor>("nodes_modes");
  if (modes && modes->type() != DType::u8)
    return format("nodes_modes is {}, not uint8", dtype_name(modes->type()));
  return "";
}

Result<Forest> Forest::of_lists(const Attrs& attrs, const std::string& weights, size_t targets) {
  const Ints &trees = ints_in(attrs, "nodes_treeids"), &ids = ints_in(attrs, "nodes_nodeids");
  const Ints& features = ints_in(attrs, "nodes_featureids");
  const Ints &yes = ints_in(attrs, "nodes_truenodeids"), &no = ints_in(attrs, "nodes_falsenodeids");
  const Ints& missing = ints_in(attrs, "nodes_missing_value_tracks_true");
  const std::vector<std::string>& modes = texts_of(attrs, "nodes_modes");
  const std::span<const float> values = floats_of(attrs, "nodes_values");
  const size_t n = ids.size();
  SX_TRY(expect_sizes("nodes", n,
                      {trees.size(), features.size(), yes.size(), no.size(), modes.size(), values.size()}));
  const NodeIndex index(trees, ids);
  SX_TRY(index.check());
  Forest f;
  TreeSpec& spec = f.spec;
  spec.targets = targets;
  std::vector<int32_t> child_of(n);
  spec.nodes.reserve(n / 2 + 1);
  spec.leaves.reserve(n / 2 + 1);
  for (size_t k = 0; k < n; ++k) {
    if (modes[k] == "LEAF") {
      child_of[k] = ~int32_t(spec.leaves.size());
      spec.leaves.push_back({});
      continue;
    }
    const auto* mode = std::find(std::begin(kTestNames), std::end(kTestNames), modes[k]);
    if (mode == std::end(kTestNames))
      return error(Code::invalid_model, "node mode '{}' is unknown", modes[k]);
    TreeNode node;
    node.test = kTests[mode - kTestNames];
    node.threshold = values[k];
    node.nan_is_true = k < missing.size() && missing[k] != 0;
    SX_TRY(set_feature(spec, node, features[k]));
    child_of[k] = int32_t(spec.nodes.size());
    spec.nodes.push_back(node);
  }
  std::vector<bool> is_child(n, false);
  for (size_t k = 0; k < n; ++k) {
    if (child_of[k] < 0) continue;
    SX_ASSIGN(const uint32_t a, index.find(trees[k], yes[k], k));
    SX_ASSIGN(const uint32_t b, index.find(trees[k], no[k], k));
    spec.nodes[size_t(child_of[k])].if_true = child_of[a];
    spec.nodes[size_t(child_of[k])].if_false = child_of[b];
    is_child[a] = is_child[b] = true;
  }
  SX_TRY(add_roots(spec, trees, index, is_child, child_of));
  SX_TRY(add_weights(spec, attrs, weights, index, child_of));
  return f;
}

namespace {

// Values of member nodes lie one after the other, each set ended by NaN.
Status add_members(TreeSpec& spec, const Attrs& attrs) {
  const Tensor* t = attrs.get<Tensor>("membership_values");
  const std::span<const float> values = t ? t->as<float>() : std::span<const float>();
  size_t at = 0;
  for (TreeNode& node : spec.nodes) {
    if (node.test != TreeTest::member) continue;
    node.member_first = uint32_t(spec.members.size());
    while (at < values.size() && !std::isnan(values[at])) spec.members.push_back(values[at++]);
    if (at >= values.size()) return Status(Code::invalid_model, "membership_values has too few sets");
    ++at;
    node.member_count = uint32_t(spec.members.size()) - node.member_first;
  }
  return {};
}

}  // namespace

Result<Forest> Forest::of_tensors(const Attrs& attrs, size_t targets) {
  const Tensor *splits = attrs.get<Tensor>("nodes_splits"), *modes = attrs.get<Tensor>("nodes_modes");
  const Tensor* leaf_weights = attrs.get<Tensor>("leaf_weights");
  if (!splits || !modes || !leaf_weights) return Status(Code::invalid_model, "a tensor attribute is missing");
  const Ints &features = ints_in(attrs, "nodes_featureids"), &target = ints_in(attrs, "leaf_targetids");
  const Ints* child[] = {&ints_in(attrs, "nodes_truenodeids"), &ints_in(attrs, "nodes_falsenodeids")};
  const Ints* is_leaf[] = {&ints_in(attrs, "nodes_trueleafs"), &ints_in(attrs, "nodes_falseleafs")};
  const Ints& missing = ints_in(attrs, "nodes_missing_value_tracks_true");
  const size_t n = features.size();
  SX_TRY(expect_sizes("nodes", n,
                      {size_t(splits->count()), size_t(modes->count()), child[0]->size(), child[1]->size(),
                       is_leaf[0]->size(), is_leaf[1]->size()}));
  SX_TRY(expect_sizes("leaves", target.size(), {size_t(leaf_weights->count())}));
  Forest f;
  TreeSpec& spec = f.spec;
  spec.targets = targets;
  for (size_t k = 0; k < n; ++k) {
    TreeNode node;
    const uint8_t mode = modes->as<uint8_t>()[k];
    if (mode >= std::size(kTests)) return error(Code::invalid_model, "node mode {} is unknown", mode);
    node.test = kTests[mode];
    node.threshold = splits->as<float>()[k];
    node.nan_is_true = k < missing.size() && missing[k] != 0;
    SX_TRY(set_feature(spec, node, features[k]));
    for (int side = 0; side < 2; ++side) {
      const bool leaf = (*is_leaf[side])[k] != 0;
      const int64_t to = (*child[side])[k], most = int64_t(leaf ? target.size() : n);
      if (to < 0 || to >= most)
        return error(Code::invalid_model, "node {} leads to {}, there are {}", k, to, most);
      (side ? node.if_false : node.if_true) = leaf ? ~int32_t(to) : int32_t(to);
    }
    spec.nodes.push_back(node);
  }
  for (size_t k = 0; k < target.size(); ++k) {
    SX_TRY(check_target(target[k], targets));
    spec.leaves.push_back({uint32_t(k), 1});
    spec.weights.push_back({uint32_t(target[k]), leaf_weights->as<float>()[k]});
  }
  for (int64_t root : ints_in(attrs, "tree_roots")) {
    if (root < 0 || size_t(root) >= n) return error(Code::invalid_model, "tree root {} is no node", root);
    spec.roots.push_back(int32_t(root));
  }
  SX_TRY(add_members(spec, attrs));
  return f;
}

void Forest::listen() {
  const size_t targets = spec.targets;
  heard.assign(targets, false);
  std::vector<bool> named(targets, false);
  struct Speakers {
    size_t leaves = 0;  // of the present tree
    int32_t last = 0;   // of them
  };
  std::vector<Speakers> speakers(targets);
  std::vector<uint32_t> present;  // targets with speakers
  std::vector<int32_t> open;
  size_t budget = kMostVisits * (spec.nodes.size() + spec.leaves.size());
  for (int32_t root : spec.roots) {
    size_t leaves = 0;
    for (open.assign(1, root); !open.empty() && budget > 0; --budget) {
      const int32_t at = open.back();
      open.pop_back();
      if (at >= 0) {
        open.push_back(spec.nodes[size_t(at)].if_true);
        open.push_back(spec.nodes[size_t(at)].if_false);
        continue;
      }
      ++leaves;
      const TreeLeaf& leaf = spec.leaves[size_t(~at)];
      for (uint32_t i = leaf.first; i < leaf.first + leaf.count; ++i) {
        const uint32_t t = spec.weights[i].target;
        Speakers& s = speakers[t];
        if (s.leaves == 0) present.push_back(t);
        if (std::exchange(s.last, at) != at) ++s.leaves;
      }
    }
    for (uint32_t t : present) {
      named[t] = true;
      heard[t] = heard[t] || speakers[t].leaves == leaves;
      speakers[t] = {};
    }
    present.clear();
  }
  for (size_t t = 0; t < targets; ++t) {
    if (named[t] && !heard[t]) counted.push_back(uint32_t(t));
  }
  if (counted.empty()) return;
  spec.targets += counted.size();
  if (!spec.base.empty()) spec.base.resize(spec.targets, 0.0f);
  std::vector<kernels::TreeWeight> all;
  for (TreeLeaf& leaf : spec.leaves) {
    const std::span<const kernels::TreeWeight> own(spec.weights.data() + leaf.first, leaf.count);
    leaf.first = uint32_t(all.size());
    all.insert(all.end(), own.begin(), own.end());
    for (size_t c = 0; c < counted.size(); ++c) {
      const bool speaks =
          std::any_of(own.begin(), own.end(), [&](const auto& w) { return w.target == counted[c]; });
      if (speaks) all.push_back({uint32_t(targets + c), 1.0f});
    }
    leaf.count = uint32_t(all.size()) - leaf.first;
  }
  spec.weights = std::move(all);
}

}  // namespace sx::cpu
