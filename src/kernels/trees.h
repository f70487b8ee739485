// SPDX-License-Identifier: Apache-2.0
// Ensembles of binary decision trees over float features. A spec (nodes, leaves, roots) is checked and laid
// out once; running allocates nothing. Small trees become complete ones, walked without branches, eight rows
// or eight trees side by side, or by comparing all splits of 64 rows where the vector level makes that
// faster; larger ones keep their nodes, walked the same way; trees with tests other than an order are walked
// one row at a time. Sums gather in float32, in the order of the trees, as every runtime adds them: five
// votes of 0.1f are 0.5 and no more, which decides classes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "base/result.h"
#include "kernels/trees_args.h"

namespace sx::kernels {

enum class TreeTest : uint8_t {
  less_equal,
  less,
  greater_equal,
  greater,
  equal,
  not_equal,
  member,  // the feature is one of members[member_first, + member_count)
};

enum class TreeAggregate : uint8_t { sum, average, min, max };

// A child is a node (>= 0) or a leaf (the leaf's index i as ~i).
struct TreeNode {
  uint32_t feature = 0;
  float threshold = 0;
  int32_t if_true = 0, if_false = 0;
  TreeTest test = TreeTest::less_equal;
  bool nan_is_true = false;  // a NaN goes to if_true, whatever the test says; else the test decides
  uint32_t member_first = 0, member_count = 0;
};

struct TreeWeight {
  uint32_t target;
  float value;
};

struct TreeLeaf {
  uint32_t first = 0, count = 0;  // in weights
};

struct TreeSpec {
  size_t features = 0, targets = 1;
  TreeAggregate aggregate = TreeAggregate::sum;
  std::vector<TreeNode> nodes;
  std::vector<TreeLeaf> leaves;
  std::vector<TreeWeight> weights;
  std::vector<int32_t> roots;  // one for each tree, as a child
  std::vector<float> members;
  std::vector<float> base;  // added to each target at the end; empty: nothing
};

class TreeEnsemble {
 public:
  static Result<TreeEnsemble> build(TreeSpec spec);
  size_t features() const { return features_; }
  size_t targets() const { return targets_; }
  size_t trees() const { return trees_; }

 private:
  friend class TreeBuilder;
  friend class TreeRun;
  enum class Kind : uint8_t { complete, linked, tested };
  struct Link {         // of a linked tree; a leaf is its own child
    float threshold;    // a leaf's one value, or its number as bits
    uint32_t feature;   // bit 31 as above
    uint32_t child[2];  // where the split holds, where it does not
  };
  struct Test {
    TreeTest test;
    bool nan_is_true;
    uint32_t member_first, member_count, bits_first, bits_count;
  };
  // Neighbouring trees of one kind and depth: they follow each other at equal distances.
  struct Group {
    Kind kind;
    uint8_t depth;          // complete
    uint8_t width;          // every leaf is one weight for each of so many targets; 0: leaves are numbers
    uint32_t first, count;  // trees
    size_t splits,
        leaves;  // complete: where they begin; a tree takes 2^depth splits, and as many leaves a target
  };
  struct Tree {
    uint32_t target;       // the first, where leaves are weights
    uint32_t root, depth;  // linked, tested: where its links begin, and the longest path
  };

  size_t features_ = 0, targets_ = 1, trees_ = 0;
  TreeAggregate aggregate_ = TreeAggregate::sum;
  bool nan_left_ = false;  // some split sends NaN to the true side
  std::vector<Group> groups_;
  std::vector<Tree> tree_;
  std::vector<TreeSplit> splits_;
  std::vector<float> leaf_values_;
  std::vector<Link> links_;
  std::vector<Test> tests_;       // beside links_, when there are tested trees
  std::vector<TreeLeaf> leaves_;  // where leaves are numbers
  std::vector<TreeWeight> weights_;
  std::vector<float> members_;  // sorted within each set
  std::vector<uint64_t> bits_;  // sets of small whole numbers
  std::vector<float> base_;
};

// y[row][target], rows `targets` apart; rows of x are x_stride apart.
void trees_run(const TreeEnsemble& ensemble, const float* x, size_t rows, size_t x_stride, float* y,
               Parallel& parallel);

}  // namespace sx::kernels
