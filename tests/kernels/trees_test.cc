// SPDX-License-Identifier: Apache-2.0
// Tree ensembles of random shape against a walk of the spec itself, equal to the bit.
#include "kernels/trees.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "kernel_testing.h"

using namespace sx;
using namespace sx::kernels;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

struct Options {
  size_t trees = 10, features = 7, targets = 1;
  int depth = 5;
  bool unbalanced = false, order_tests = false, other_tests = false, nan_true = false, dense_leaves = false,
       full_leaves = false;
  TreeAggregate aggregate = TreeAggregate::sum;
  bool base = false;
};

class Maker {
 public:
  Maker(const Options& o, uint64_t seed) : o_(o), random_(seed) {
    spec_.features = o.features, spec_.targets = o.targets, spec_.aggregate = o.aggregate;
    for (size_t t = 0; t < o.trees; ++t) {
      target_ = static_cast<uint32_t>(random_.below(o.targets));
      spec_.roots.push_back(subtree(o.depth));
    }
    if (o.base) spec_.base = random_.floats(o.targets);
  }
  TreeSpec spec_;

 private:
  // Few different values, so that equality happens.
  float value() {
    return random_.below(30) == 0 ? (random_.below(2) ? kInf : -kInf)
                                  : static_cast<float>(random_.below(9)) - 4;
  }

  int32_t leaf() {
    TreeLeaf l;
    l.first = static_cast<uint32_t>(spec_.weights.size());
    for (uint32_t t = 0; t < o_.targets; ++t)
      if (o_.full_leaves || (o_.dense_leaves ? random_.below(4) > 0 : t == target_))
        spec_.weights.push_back({t, random_.uniform(-1, 1)});
    l.count = static_cast<uint32_t>(spec_.weights.size()) - l.first;
    spec_.leaves.push_back(l);
    return ~static_cast<int32_t>(spec_.leaves.size() - 1);
  }

  int32_t subtree(int depth) {
    if (depth == 0 || random_.below(8) == 0) return leaf();
    TreeNode n;
    n.feature = static_cast<uint32_t>(random_.below(o_.features));
    n.threshold = value();
    if (o_.order_tests) n.test = static_cast<TreeTest>(random_.below(4));
    if (o_.other_tests) n.test = static_cast<TreeTest>(random_.below(7));
    if (o_.nan_true) n.nan_is_true = random_.below(2);
    if (n.test == TreeTest::member) {
      n.member_first = static_cast<uint32_t>(spec_.members.size());
      n.member_count = static_cast<uint32_t>(random_.below(5));
      const bool whole = random_.below(2);
      for (uint32_t i = 0; i < n.member_count; ++i)
        spec_.members.push_back(static_cast<float>(random_.below(whole ? 300 : 9)) - (whole ? 0.0f : 4.0f));
    }
    const size_t self = spec_.nodes.size();
    spec_.nodes.push_back(n);
    const int32_t a = o_.unbalanced && random_.below(3) ? leaf() : subtree(depth - 1), b = subtree(depth - 1);
    spec_.nodes[self].if_true = a;
    spec_.nodes[self].if_false = b;
    return static_cast<int32_t>(self);
  }

  Options o_;
  testing::Random random_;
  uint32_t target_ = 0;
};

bool test(const TreeSpec& spec, const TreeNode& n, float x) {
  if (std::isnan(x) && n.nan_is_true) return true;
  switch (n.test) {
    case TreeTest::less_equal: return x <= n.threshold;
    case TreeTest::less: return x < n.threshold;
    case TreeTest::greater_equal: return x >= n.threshold;
    case TreeTest::greater: return x > n.threshold;
    case TreeTest::equal: return x == n.threshold;
    case TreeTest::not_equal: return x != n.threshold;
    case TreeTest::member:
      for (uint32_t i = 0; i < n.member_count; ++i)
        if (spec.members[n.member_first + i] == x) return true;
      return false;
  }
  return false;
}

std::vector<float> walk(const TreeSpec& spec, const float* x) {
  std::vector<float> y(spec.targets, 0);
  std::vector<bool> seen(spec.targets, false);
  for (int32_t at : spec.roots) {
    while (at >= 0)
      at = test(spec, spec.nodes[at], x[spec.nodes[at].feature]) ? spec.nodes[at].if_true
                                                                 : spec.nodes[at].if_false;
    const TreeLeaf& leaf = spec.leaves[static_cast<size_t>(~at)];
    for (uint32_t i = leaf.first; i < leaf.first + leaf.count; ++i) {
      const TreeWeight w = spec.weights[i];
      const float v = w.value;
      float& s = y[w.target];
      if (spec.aggregate == TreeAggregate::min)
        s = seen[w.target] ? std::min(s, v) : v;
      else if (spec.aggregate == TreeAggregate::max)
        s = seen[w.target] ? std::max(s, v) : v;
      else
        s += v;
      seen[w.target] = true;
    }
  }
  for (size_t t = 0; t < spec.targets; ++t) {
    if (spec.aggregate == TreeAggregate::average) y[t] /= static_cast<float>(spec.roots.size());
    if (!spec.base.empty()) y[t] += spec.base[t];
  }
  return y;
}

void check(const Options& o, size_t rows, uint64_t seed, Parallel& parallel) {
  const Maker maker(o, seed);
  auto ensemble = TreeEnsemble::build(maker.spec_);
  REQUIRE(ensemble.ok());
  testing::Random random(seed + 1);
  const size_t stride = o.features + 2;
  std::vector<float> x(rows * stride);
  for (float& v : x) {
    const size_t kind = random.below(20);
    v = kind == 0   ? kNan
        : kind == 1 ? kInf
        : kind == 2 ? -kInf
        : kind < 8  ? random.uniform(-5, 5)
                    : static_cast<float>(random.below(9)) - 4;
  }
  std::vector<float> y(rows * o.targets, 77.0f);
  trees_run(*ensemble, x.data(), rows, stride, y.data(), parallel);
  size_t bad = 0;
  for (size_t r = 0; r < rows; ++r) {
    const std::vector<float> want = walk(maker.spec_, &x[r * stride]);
    for (size_t t = 0; t < o.targets; ++t) bad += y[r * o.targets + t] != want[t];
  }
  CAPTURE(seed);
  CHECK(bad == 0);
}

TEST_CASE("wide walks: every depth, at every vector level, equal to the bit to single rows") {
  sx::testing::for_each_isa([](Isa) {
    Serial serial;
    testing::Threads threads(3);
    for (int depth = 1; depth <= 8; ++depth)
      for (int variant = 0; variant < 8; ++variant) {
        Options o;
        o.depth = depth, o.trees = 12;
        o.unbalanced = variant & 1, o.order_tests = o.nan_true = variant & 2, o.full_leaves = variant & 1;
        o.targets = variant & 4 ? 3 : 1;
        o.aggregate = variant & 1 ? TreeAggregate::average : TreeAggregate::sum;
        o.base = variant & 4;
        const uint64_t seed = static_cast<uint64_t>(5000 + depth * 8 + variant);
        check(o, 64, seed, serial);
        check(o, 333, seed, threads);
        const Maker maker(o, seed);
        auto ensemble = TreeEnsemble::build(maker.spec_);
        REQUIRE(ensemble.ok());
        testing::Random random(seed);
        const std::vector<float> x = random.floats(128 * o.features, -4, 4);
        std::vector<float> many(128 * o.targets), one(128 * o.targets);
        trees_run(*ensemble, x.data(), 128, o.features, many.data(), serial);
        for (size_t r = 0; r < 128; ++r)
          trees_run(*ensemble, &x[r * o.features], 1, o.features, &one[r * o.targets], serial);
        CHECK(one == many);
      }
  });
}

TEST_CASE("complete, linked and tested trees, one row and many") {
  Serial serial;
  testing::Threads threads(3);
  uint64_t seed = 1;
  for (int depth : {0, 1, 3, 6, 8, 14})
    for (int variant = 0; variant < 64; ++variant) {
      Options o;
      o.depth = depth;
      o.trees = 1 + static_cast<size_t>(variant) % 21;
      o.unbalanced = depth > 6 || variant & 1;
      o.order_tests = variant & 2, o.nan_true = variant & 4, o.dense_leaves = variant & 8;
      o.other_tests = (variant & 48) == 48;
      o.targets = variant & 16 ? 3 : 1;
      o.aggregate = static_cast<TreeAggregate>(variant / 4 % 4);
      o.base = variant & 32;
      for (size_t rows : {1, 7, 8, 21, 300})
        check(o, rows, seed++, rows % 2 ? static_cast<Parallel&>(serial) : threads);
    }
}

TEST_CASE("more targets than fit a block of sums") {
  Serial serial;
  Options o;
  o.targets = 700, o.trees = 5, o.dense_leaves = true;
  check(o, 13, 900, serial);
}

TEST_CASE("sums are bit-equal on any number of threads") {
  Options o;
  o.trees = 100, o.depth = 6;
  const Maker maker(o, 3);
  auto ensemble = TreeEnsemble::build(maker.spec_);
  REQUIRE(ensemble.ok());
  testing::Random random(4);
  const std::vector<float> x = random.floats(1000 * o.features, -4, 4);
  std::vector<float> one(1000), many(1000);
  Serial serial;
  testing::Threads threads(5);
  trees_run(*ensemble, x.data(), 1000, o.features, one.data(), serial);
  trees_run(*ensemble, x.data(), 1000, o.features, many.data(), threads);
  CHECK(one == many);
}

TEST_CASE("an ensemble that cannot be right is refused") {
  TreeSpec spec;
  spec.features = 2;
  spec.weights = {{0, 1.0f}};
  spec.leaves = {{0, 1}};
  spec.nodes.resize(1);
  spec.nodes[0].if_true = ~0;
  spec.nodes[0].if_false = 0;
  spec.roots = {0};
  CHECK_FALSE(TreeEnsemble::build(spec).ok());
  spec.nodes[0].if_false = 5;
  CHECK_FALSE(TreeEnsemble::build(spec).ok());
  spec.nodes[0].if_false = ~0;
  CHECK(TreeEnsemble::build(spec).ok());
  spec.nodes[0].feature = 2;
  CHECK_FALSE(TreeEnsemble::build(spec).ok());
}

}  // namespace
