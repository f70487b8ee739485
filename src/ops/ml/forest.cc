// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/forest.h"

#include <algorithm>
#include <cmath>

namespace sx::ops {
namespace {

// Finds nodes by tree and node id.
class NodeIndex {
 public:
  NodeIndex(const std::vector<int64_t>& trees, const std::vector<int64_t>& ids) {
    for (size_t k = 0; k < ids.size(); ++k) list_.push_back({trees[k], ids[k], uint32_t(k)});
    std::sort(list_.begin(), list_.end());
  }
  // Of each tree the first split that is no child, or its one leaf; other nodes that are no children cannot
  // be reached.
  Result<std::vector<uint32_t>> roots(const std::vector<Forest::Node>& nodes,
                                      const std::vector<bool>& child) const {
    std::vector<uint32_t> found;
    for (size_t k = 0; k < list_.size();) {
      const int64_t tree = list_[k].tree;
      uint32_t root = UINT32_MAX, leaf = UINT32_MAX;
      bool splits = false;
      for (size_t first = k; k < list_.size() && list_[k].tree == tree; ++k) {
        if (k > first && list_[k].id == list_[k - 1].id)
          return error(Code::invalid_model, "tree {} has two nodes {}", tree, list_[k].id);
        const uint32_t at = list_[k].at;
        const bool split = nodes[at].mode != Forest::Mode::leaf;
        splits = splits || split;
        if (!child[at]) (split ? root : leaf) = std::min(split ? root : leaf, at);
      }
      if (splits && root == UINT32_MAX)
        return error(Code::invalid_model, "the nodes of tree {} form a loop", tree);
      found.push_back(splits ? root : leaf);
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  Result<uint32_t> find(int64_t tree, int64_t id) const {
    const auto it = std::lower_bound(list_.begin(), list_.end(), Entry{tree, id, 0});
    if (it == list_.end() || it->tree != tree || it->id != id) {
      return error(Code::invalid_model, "tree {} has no node {}", tree, id);
    }
    return it->at;
  }

 private:
  struct Entry {
    int64_t tree, id;
    uint32_t at;
    auto operator<=>(const Entry&) const = default;
  };
  std::vector<Entry> list_;
};

Result<Forest::Mode> mode_named(const std::string& name) {
  constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                         "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
  for (size_t k = 0; k < std::size(kNames); ++k) {
    if (name == kNames[k]) return Forest::Mode(k);
  }
  return error(Code::invalid_model, "node mode '{}' is unknown", name);
}

Status set_feature(Forest& f, Forest::Node& node, int64_t feature) {
  if (feature < 0 || feature > INT32_MAX) return error(Code::invalid_model, "feature {} cannot be", feature);
  node.feature = uint32_t(feature);
  f.features = std::max(f.features, node.feature + 1);
  return {};
}

Status expect_sizes(std::string_view what, size_t expected, std::initializer_list<size_t> sizes) {
  for (size_t s : sizes) {
    if (s != expected)
      return error(Code::invalid_model, "lists of {} have {} and {} entries", what, expected, s);
  }
  return {};
}

// Weights of each leaf next to each other, in the order of the lists.
Status add_weights(Forest& f, const Attrs& attrs, const std::string& prefix, const NodeIndex& index,
                   size_t targets) {
  const std::vector<int64_t> trees = attrs.integers(prefix + "_treeids"),
                             ids = attrs.integers(prefix + "_nodeids");
  const std::vector<int64_t> target = attrs.integers(prefix + "_ids");
  const std::vector<double> values = numbers_of(attrs, prefix + "_weights");
  SX_TRY(expect_sizes("weights", ids.size(), {trees.size(), target.size(), values.size()}));
  std::vector<std::pair<uint32_t, uint32_t>> order;  // (node, entry)
  for (size_t k = 0; k < ids.size(); ++k) {
    SX_ASSIGN(const uint32_t node, index.find(trees[k], ids[k]));
    if (target[k] < 0 || size_t(target[k]) >= targets) {
      return error(Code::invalid_model, "a leaf speaks of target {}, there are {}", target[k], targets);
    }
    order.emplace_back(node, uint32_t(k));
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [at, entry] : order) {
    Forest::Node& node = f.nodes[at];
    if (node.mode != Forest::Mode::leaf) continue;
    if (node.no == 0) node.yes = uint32_t(f.weights.size());
    ++node.no;
    f.weights.push_back({uint32_t(target[entry]), values[entry]});
  }
  return {};
}

}  // namespace

Result<Forest> Forest::of_lists(const Attrs& attrs, const std::string& weights, size_t targets) {
  const std::vector<int64_t> trees = attrs.integers("nodes_treeids"), ids = attrs.integers("nodes_nodeids");
  const std::vector<int64_t> features = attrs.integers("nodes_featureids");
  const std::vector<int64_t> yes = attrs.integers("nodes_truenodeids"),
                             no = attrs.integers("nodes_falsenodeids");
  const std::vector<int64_t> missing =
      attrs.integers("nodes_missing_value_tracks_true", std::vector<int64_t>(ids.size(), 0));
  const std::vector<std::string>& modes = texts_of(attrs, "nodes_modes");
  const std::vector<double> values = numbers_of(attrs, "nodes_values");
  const size_t n = ids.size();
  SX_TRY(expect_sizes("nodes", n,
                      {trees.size(), features.size(), yes.size(), no.size(), modes.size(), values.size()}));
  const NodeIndex index(trees, ids);
  Forest f;
  f.nodes.resize(n);
  std::vector<bool> child(n, false);
  for (size_t k = 0; k < n; ++k) {
    Node& node = f.nodes[k];
    SX_ASSIGN(node.mode, mode_named(modes[k]));
    if (node.mode == Mode::leaf) continue;
    SX_TRY(set_feature(f, node, features[k]));
    node.value = values[k];
    node.missing_is_true = k < missing.size() && missing[k] != 0;
    SX_ASSIGN(node.yes, index.find(trees[k], yes[k]));
    SX_ASSIGN(node.no, index.find(trees[k], no[k]));
    child[node.yes] = child[node.no] = true;
  }
  SX_ASSIGN(f.roots, index.roots(f.nodes, child));
  SX_TRY(add_weights(f, attrs, weights, index, targets));
  return f;
}

namespace {

// Values of member nodes lie one after the other, each set ended by NaN.
Status add_members(Forest& f, const Attrs& attrs) {
  const Tensor* t = attrs.get<Tensor>("membership_values");
  std::vector<double> values;
  if (t) {
    const Reader<double> list(*t);
    values.assign(list.begin(), list.end());
  }
  size_t at = 0;
  for (Forest::Node& node : f.nodes) {
    if (node.mode != Forest::Mode::member) continue;
    node.first_value = uint32_t(f.members.size());
    while (at < values.size() && !std::isnan(values[at])) f.members.push_back(values[at++]);
    if (at >= values.size()) return error(Code::invalid_model, "membership_values has too few sets");
    ++at;
    node.value_count = uint32_t(f.members.size()) - node.first_value;
  }
  return {};
}

}  // namespace

Result<Forest> Forest::of_tensors(const Attrs& attrs, size_t targets) {
  const Tensor *splits = attrs.get<Tensor>("nodes_splits"), *modes = attrs.get<Tensor>("nodes_modes");
  const Tensor* leaf_weights = attrs.get<Tensor>("leaf_weights");
  if (!splits || !modes || !leaf_weights) return error(Code::invalid_model, "a tensor attribute is missing");
  const Reader<double> values(*splits), weights(*leaf_weights);
  const Reader<int64_t> kinds(*modes);
  const std::vector<int64_t> features = attrs.integers("nodes_featureids"),
                             target = attrs.integers("leaf_targetids");
  const std::vector<int64_t> child[] = {attrs.integers("nodes_truenodeids"),
                                        attrs.integers("nodes_falsenodeids")};
  const std::vector<int64_t> is_leaf[] = {attrs.integers("nodes_trueleafs"),
                                          attrs.integers("nodes_falseleafs")};
  const size_t n = features.size();
  SX_TRY(expect_sizes(
      "nodes", n,
      {values.size(), kinds.size(), child[0].size(), child[1].size(), is_leaf[0].size(), is_leaf[1].size()}));
  SX_TRY(expect_sizes("leaves", target.size(), {weights.size()}));
  const std::vector<int64_t> missing =
      attrs.integers("nodes_missing_value_tracks_true", std::vector<int64_t>(n, 0));
  Forest f;
  f.nodes.resize(n + target.size());  // leaves behind the nodes
  for (size_t k = 0; k < n; ++k) {
    Node& node = f.nodes[k];
    if (kinds[k] < 0 || kinds[k] > 6) return error(Code::invalid_model, "node mode {} is unknown", kinds[k]);
    node.mode = Mode(kinds[k]);
    SX_TRY(set_feature(f, node, features[k]));
    node.value = values[k];
    node.missing_is_true = k < missing.size() && missing[k] != 0;
    for (int side = 0; side < 2; ++side) {
      const int64_t to = child[side][k], most = is_leaf[side][k] ? int64_t(target.size()) : int64_t(n);
      if (to < 0 || to >= most)
        return error(Code::invalid_model, "node {} leads to {}, there are {}", k, to, most);
      (side ? node.no : node.yes) = uint32_t(is_leaf[side][k] ? int64_t(n) + to : to);
    }
  }
  for (size_t k = 0; k < target.size(); ++k) {
    if (target[k] < 0 || size_t(target[k]) >= targets) {
      return error(Code::invalid_model, "a leaf speaks of target {}, there are {}", target[k], targets);
    }
    f.nodes[n + k].yes = uint32_t(k);
    f.nodes[n + k].no = 1;
    f.weights.push_back({uint32_t(target[k]), weights[k]});
  }
  for (int64_t root : attrs.integers("tree_roots")) {
    if (root < 0 || size_t(root) >= n) return error(Code::invalid_model, "tree root {} is no node", root);
    f.roots.push_back(uint32_t(root));
  }
  SX_TRY(add_members(f, attrs));
  return f;
}

namespace {

bool takes_yes(const Forest& f, const Forest::Node& node, double x) {
  switch (node.mode) {
    case Forest::Mode::leq: return x <= node.value;
    case Forest::Mode::lt: return x < node.value;
    case Forest::Mode::gte: return x >= node.value;
    case Forest::Mode::gt: return x > node.value;
    case Forest::Mode::eq: return x == node.value;
    case Forest::Mode::neq: return x != node.value;
    case Forest::Mode::member: {
      const double* first = f.members.data() + node.first_value;
      return std::find(first, first + node.value_count, x) != first + node.value_count;
    }
    case Forest::Mode::leaf: break;
  }
  return false;
}

}  // namespace

const Forest::Node* Forest::leaf(uint32_t root, const double* row) const {
  const Node* node = &nodes[root];
  for (size_t depth = 0; depth <= nodes.size(); ++depth) {
    if (node->mode == Mode::leaf) return node;
    const double x = row[node->feature];
    const bool yes = takes_yes(*this, *node, x) || (node->missing_is_true && std::isnan(x));
    node = &nodes[yes ? node->yes : node->no];
  }
  return nullptr;
}

Status Forest::score(const double* row, Aggregate aggregate, std::vector<double>& sums,
                     std::vector<bool>& seen) const {
  std::fill(sums.begin(), sums.end(), 0.0);
  std::fill(seen.begin(), seen.end(), false);
  for (uint32_t root : stoppable(roots)) {
    const Node* end = leaf(root, row);
    if (!end) return error(Code::invalid_model, "the nodes of a tree form a ring");
    for (const Weight& w : weights_of(*end)) {
      double& sum = sums[w.target];
      if (aggregate == Aggregate::min || aggregate == Aggregate::max) {
        const bool better = aggregate == Aggregate::min ? w.value < sum : w.value > sum;
        if (!seen[w.target] || better) sum = w.value;
      } else {
        sum = plus(sum, w.value);
      }
      seen[w.target] = true;
    }
  }
  if (aggregate == Aggregate::average) {
    for (double& s : sums) s = plus(s / double(roots.size()), 0);
  }
  return {};
}

std::vector<AttrDef> forest_attrs(bool tensors, std::initializer_list<AttrDef> more) {
  std::vector<AttrDef> list = more;
  for (std::string_view name : {"nodes_falsenodeids", "nodes_featureids", "nodes_missing_value_tracks_true",
                                "nodes_nodeids", "nodes_treeids", "nodes_truenodeids"}) {
    list.push_back(optional_attr(name, AttrKind::integers));
  }
  for (std::string_view name : {"base_values", "nodes_hitrates", "nodes_values"}) {
    list.push_back(optional_attr(name, AttrKind::floatings));
  }
  list.push_back(optional_attr("nodes_modes", AttrKind::texts));
  list.push_back(attr_text("post_transform", "NONE"));
  if (tensors) {
    for (std::string_view name :
         {"base_values_as_tensor", "nodes_hitrates_as_tensor", "nodes_values_as_tensor"}) {
      list.push_back(optional_attr(name, AttrKind::tensor));
    }
  }
  return list;
}

}  // namespace sx::ops
