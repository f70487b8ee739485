// SPDX-License-Identifier: Apache-2.0
// Problems: everything that is wrong with a model, gathered, and said as one error.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "convert/convert.h"

namespace sx::convert {

class Problems {
 public:
  explicit Problems(size_t most) : most_(most) {}
  void add(Code code, std::string where, std::string message);
  void add(const Status& status);  // context becomes the place
  // An operator that nobody knows; nodes with the same one share a line.
  void unknown_operator(std::string_view op, std::string node);
  bool any() const { return count() > 0; }
  size_t count() const { return total_ + unknown_nodes_; }
  bool full() const { return list_.size() >= most_; }
  std::vector<Problem> list() const;
  Status status() const;

 private:
  struct Unknown {
    std::string op;
    std::vector<std::string> nodes;
    size_t count = 0;
  };
  size_t most_, total_ = 0, unknown_nodes_ = 0;
  std::vector<Problem> list_;
  std::vector<Unknown> unknown_;
  std::unordered_map<std::string, size_t> unknown_at_;  // by operator
};

}  // namespace sx::convert
