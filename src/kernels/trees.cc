// SPDX-License-Identifier: Apache-2.0
// Walking a tree ensemble: a block of rows through all trees, so that a tree's nodes are read once for many
// rows.
#include "kernels/trees.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/chunks.h"
#include "kernels/dispatch.h"

SX_LEVELS(bool wide_trees(const kernels::WideTrees* args))
SX_LEVELS(bool wide_trees_pay())

namespace sx::kernels {
namespace {

constexpr size_t kLanes = 8;  // rows, or trees, that are walked side by side
constexpr size_t kBlockRows = 128;
constexpr size_t kWideFeatures = 256, kWideTargets = 16;
constexpr size_t kWideLeast = 24;  // so many rows cost as much to walk as a wide block

template <bool kNan>
bool goes_right(float x, float threshold, uint32_t feature) {
  const bool right = !(x <= threshold);
  if constexpr (!kNan) return right;
  return right & !((feature & kNanLeft) != 0 && x != x);
}

template <bool kNan>
uint32_t feature_of(uint32_t feature) {
  return kNan ? feature & ~kNanLeft : feature;
}

}  // namespace

class TreeRun {
 public:
  using Kind = TreeEnsemble::Kind;
  TreeRun(const TreeEnsemble& e, const float* x, size_t stride, float* y)
      : e_(e), x_(x), stride_(stride), y_(y) {}

  // Whether whole blocks of 64 rows can go through the wide walk: sums of complete trees whose leaves are
  // weights.
  bool is_wide() const {
    if (!SX_PICK(wide_trees_pay)() || e_.aggregate_ > TreeAggregate::average) return false;
    if (e_.features_ > kWideFeatures || e_.targets_ > kWideTargets) return false;
    for (const TreeEnsemble::Group& g : e_.groups_)
      if (g.kind != Kind::complete || !g.width || g.depth < 1 || g.depth > kWideDepth) return false;
    return true;
  }

  void wide_rows(size_t begin, size_t end) const {
    auto* walk = SX_PICK(wide_trees);
    alignas(64) float x[kWideFeatures * kWideRows];
    alignas(64) float sums[kWideTargets * kWideRows];
    while (end - begin >= kWideLeast) {
      const size_t n = std::min(kWideRows, end - begin);
      for (size_t r = 0; r < kWideRows; ++r) {
        const float* row = x_ + (begin + std::min(r, n - 1)) * stride_;
        for (size_t f = 0; f < e_.features_; ++f) x[f * kWideRows + r] = row[f];
      }
      std::fill(sums, sums + e_.targets_ * kWideRows, 0.0f);
      for (const TreeEnsemble::Group& g : e_.groups_) {
        const WideTrees w = {e_.splits_.data() + g.splits,
                             e_.leaf_values_.data() + g.leaves,
                             &e_.tree_[g.first].target,
                             sizeof(TreeEnsemble::Tree) / sizeof(uint32_t),
                             g.count,
                             g.depth,
                             g.width,
                             x,
                             sums,
                             e_.nan_left_};
        walk(&w);
      }
      for (size_t r = 0; r < n; ++r)
        for (size_t t = 0; t < e_.targets_; ++t) y_[(begin + r) * e_.targets_ + t] = sums[t * kWideRows + r];
      finish(begin, n);
      begin += n;
    }
    if (begin < end) rows(begin, end);
  }

  void rows(size_t begin, size_t end) const {
    for (size_t r = begin; r < end; r += kBlockRows) block(r, std::min(kBlockRows, end - r));
  }

 private:
  // The sums gather in the result itself.
  void block(size_t first, size_t n) const {
    // NaN: no tree has spoken yet.
    const float start = e_.aggregate_ <= TreeAggregate::average ? 0 : std::numeric_limits<float>::quiet_NaN();
    std::fill(y_ + first * e_.targets_, y_ + (first + n) * e_.targets_, start);
    for (const TreeEnsemble::Group& g : e_.groups_)
      e_.nan_left_ ? group<true>(g, first, n) : group<false>(g, first, n);
    finish(first, n);
  }

  void finish(size_t first, size_t n) const {
    const bool picks = e_.aggregate_ > TreeAggregate::average;
    const bool divides = e_.aggregate_ == TreeAggregate::average && e_.trees_ > 0;
    if (!picks && !divides && e_.base_.empty()) return;
    const float trees = static_cast<float>(e_.trees_);
    for (size_t r = first; r < first + n; ++r)
      for (size_t t = 0; t < e_.targets_; ++t) {
        float& v = y_[r * e_.targets_ + t];
        if (picks && v != v) v = 0;
        if (divides) v /= trees;
        if (!e_.base_.empty()) v += e_.base_[t];
      }
  }

  void add(float& sum, float v) const {
    switch (e_.aggregate_) {
      case TreeAggregate::min: sum = sum < v ? sum : v; return;
      case TreeAggregate::max: sum = sum > v ? sum : v; return;
      default: sum += v;
    }
  }

  // What a leaf says, to the sums of one row.
  void take(bool is_value, uint32_t target, float payload, float* row) const {
    if (is_value) return add(row[target], payload);
    uint32_t number;
    std::memcpy(&number, &payload, sizeof number);
    const TreeLeaf leaf = e_.leaves_[number];
    const TreeWeight* w = e_.weights_.data() + leaf.first;
    for (uint32_t i = 0; i < leaf.count; ++i) add(row[w[i].target], w[i].value);
  }

  // What leaf `k` of a complete tree says; its values for the next targets are `size` apart.
  void take(uint8_t width, uint32_t target, const float* leaves, size_t k, size_t size, float* row) const {
    if (width <= 1) return take(width == 1, target, leaves[k], row);
    for (uint8_t j = 0; j < width; ++j) add(row[target + j], leaves[j * size + k]);
  }

  template <bool kNan>
  void group(const TreeEnsemble::Group& g, size_t first, size_t n) const {
    float* sums = y_ + first * e_.targets_;
    size_t r = 0;
    if (g.kind == Kind::complete) {
      for (uint32_t t = 0; n >= kLanes && t < g.count; ++t)
        complete_rows<kNan>(g, t, first, n / kLanes * kLanes, sums);
      for (r = n / kLanes * kLanes; r < n; ++r)
        complete_trees<kNan>(g, x_ + (first + r) * stride_, sums + r * e_.targets_);
    } else if (g.kind == Kind::linked) {
      for (uint32_t t = g.first; t < g.first + g.count; ++t)
        linked_rows<kNan>(g, e_.tree_[t], first, n, sums);
    } else {
      for (uint32_t t = g.first; t < g.first + g.count; ++t)
        for (r = 0; r < n; ++r) {
          const float payload = tested(e_.tree_[t].root, x_ + (first + r) * stride_);
          take(g.width == 1, e_.tree_[t].target, payload, sums + r * e_.targets_);
        }
    }
  }

  // One complete tree, rows side by side.
  template <bool kNan>
  void complete_rows(const TreeEnsemble::Group& g, uint32_t t, size_t first, size_t n, float* sums) const {
    const size_t size = size_t{1} << g.depth;
    const TreeSplit* splits = e_.splits_.data() + g.splits + t * size;
    const float* leaves = e_.leaf_values_.data() + g.leaves + t * size * std::max<size_t>(1, g.width);
    const uint32_t target = e_.tree_[g.first + t].target;
    for (size_t r = 0; r < n; r += kLanes) {
      const float* x = x_ + (first + r) * stride_;
      uint32_t k[kLanes] = {};
      for (unsigned d = 0; d < g.depth; ++d)
        for (size_t j = 0; j < kLanes; ++j) {
          const TreeSplit s = splits[k[j]];
          k[j] = 2 * k[j] + 1 +
                 goes_right<kNan>(x[j * stride_ + feature_of<kNan>(s.feature)], s.threshold, s.feature);
        }
      for (size_t j = 0; j < kLanes; ++j)
        take(g.width, target, leaves, k[j] - (size - 1), size, sums + (r + j) * e_.targets_);
    }
  }

  // One row, complete trees side by side.
  template <bool kNan>
  void complete_trees(const TreeEnsemble::Group& g, const float* x, float* sums) const {
    const size_t size = size_t{1} << g.depth, values = size * std::max<size_t>(1, g.width);
    for (uint32_t t = 0; t < g.count; t += kLanes) {
      const uint32_t lanes = std::min<uint32_t>(kLanes, g.count - t);
      const TreeSplit* splits = e_.splits_.data() + g.splits + t * size;
      const float* leaves = e_.leaf_values_.data() + g.leaves + t * values;
      uint32_t k[kLanes] = {};
      const auto level = [&](uint32_t j) {
        const TreeSplit s = splits[j * size + k[j]];
        k[j] = 2 * k[j] + 1 + goes_right<kNan>(x[feature_of<kNan>(s.feature)], s.threshold, s.feature);
      };
      for (unsigned d = 0; d < g.depth; ++d) {
        if (lanes == kLanes)
          for (uint32_t j = 0; j < kLanes; ++j) level(j);
        else
          for (uint32_t j = 0; j < lanes; ++j) level(j);
      }
      for (uint32_t j = 0; j < lanes; ++j)
        take(g.width, e_.tree_[g.first + t + j].target, leaves + j * values, k[j] - (size - 1), size, sums);
    }
  }

  // One linked tree, rows side by side; a row that has arrived waits at its leaf.
  template <bool kNan>
  void linked_rows(const TreeEnsemble::Group& g, const TreeEnsemble::Tree& tree, size_t first, size_t n,
                   float* sums) const {
    const TreeEnsemble::Link* links = e_.links_.data();
    for (size_t r = 0; r < n; r += kLanes) {
      const size_t lanes = std::min(kLanes, n - r);
      const float* x = x_ + (first + r) * stride_;
      uint32_t k[kLanes];
      for (size_t j = 0; j < kLanes; ++j) k[j] = tree.root;
      bool walking = true;
      for (uint32_t d = 0; walking && d < tree.depth; ++d) {
        walking = false;
        for (size_t j = 0; j < lanes; ++j) {
          const TreeEnsemble::Link& l = links[k[j]];
          const uint32_t next =
              l.child[goes_right<kNan>(x[j * stride_ + feature_of<kNan>(l.feature)], l.threshold, l.feature)];
          walking |= next != k[j];
          k[j] = next;
        }
      }
      for (size_t j = 0; j < lanes; ++j)
        take(g.width == 1, tree.target, links[k[j]].threshold, sums + (r + j) * e_.targets_);
    }
  }

  float tested(uint32_t k, const float* x) const {
    for (;;) {
      const TreeEnsemble::Link& l = e_.links_[k];
      if (l.child[0] == k) return l.threshold;
      const TreeEnsemble::Test& test = e_.tests_[k];
      const float v = x[l.feature & ~kNanLeft];
      bool right;
      if (test.test == TreeTest::less_equal) {
        right = goes_right<true>(v, l.threshold, l.feature);
      } else if (v != v && test.nan_is_true) {
        right = false;
      } else if (test.test == TreeTest::member) {
        right = !is_member(test, v);
      } else {
        right = (v == l.threshold) != (test.test == TreeTest::equal);
      }
      k = l.child[right];
    }
  }

  bool is_member(const TreeEnsemble::Test& test, float v) const {
    if (test.bits_count) {
      if (!(v >= 0 && v < static_cast<float>(test.bits_count * 64)) || v != std::floor(v)) return false;
      const uint32_t i = static_cast<uint32_t>(v);
      return e_.bits_[test.bits_first + i / 64] >> (i % 64) & 1;
    }
    const float* first = e_.members_.data() + test.member_first;
    return v == v && std::binary_search(first, first + test.member_count, v);
  }

  const TreeEnsemble& e_;
  const float* x_;
  size_t stride_;
  float* y_;
};

void trees_run(const TreeEnsemble& e, const float* x, size_t rows, size_t x_stride, float* y,
               Parallel& parallel) {
  const TreeRun run(e, x, x_stride, y);
  // Both walks add the same numbers in the same order, so a row's result does not depend on its neighbours.
  const bool wide = rows >= kWideLeast && run.is_wide();
  const size_t step = wide ? kWideRows : kLanes;
  // Some forty nanoseconds for eight steps of a tree.
  const size_t grain = std::max<size_t>(1, 8192 / (e.trees() + 1) / step);
  for_chunks(parallel, (rows + step - 1) / step, grain, [&](size_t begin, size_t end) {
    const size_t first = begin * step, last = std::min(rows, end * step);
    wide ? run.wide_rows(first, last) : run.rows(first, last);
  });
}

}  // namespace sx::kernels
