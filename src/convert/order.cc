// SPDX-License-Identifier: Apache-2.0
#include "convert/order.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/format.h"

namespace sx::convert {
namespace {

using Names = std::unordered_set<std::string_view>;

void outer_names(const onnx::GraphProto& graph, Names& names);

void names_read(const onnx::NodeProto& node, Names& names) {
  for (const onnx::Text& t : node.input) {
    if (!t.empty()) names.insert(t.view());
  }
  for (const onnx::AttributeProto& a : node.attribute) {
    if (a.g) outer_names(*a.g, names);
    for (const onnx::GraphProto& g : a.graphs) outer_names(g, names);
  }
}

// Names that a nested graph takes from outside.
void outer_names(const onnx::GraphProto& graph, Names& names) {
  Names read, own;
  for (const auto& v : graph.input) own.insert(v.name.view());
  for (const auto& t : graph.initializer) own.insert(t.name.view());
  for (const auto& s : graph.sparse_initializer) {
    if (s.values) own.insert(s.values->name.view());
  }
  for (const auto& n : graph.node) {
    names_read(n, read);
    for (const onnx::Text& t : n.output) own.insert(t.view());
  }
  for (const auto& v : graph.output) read.insert(v.name.view());
  for (std::string_view name : read) {
    if (!own.contains(name)) names.insert(name);
  }
}

class Sorter {
 public:
  explicit Sorter(const std::vector<onnx::NodeProto>& nodes) : nodes_(nodes), needs_(nodes.size()) {}

  Result<NodeOrder> run() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const onnx::Text& t : nodes_[i].output) {
        if (!t.empty() && !makers_.try_emplace(t.view(), i).second) result_.duplicates.push_back(t.view());
      }
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      Names read;
      names_read(nodes_[i], read);
      for (std::string_view name : read) {
        auto it = makers_.find(name);
        if (it == makers_.end()) continue;
        needs_[i].push_back(it->second);
        if (it->second >= i) result_.sorted = true;
      }
      std::sort(needs_[i].begin(), needs_[i].end());
    }
    if (result_.sorted)
      SX_TRY(sort());
    else
      for (size_t i = 0; i < nodes_.size(); ++i) result_.order.push_back(i);
    return std::move(result_);
  }

 private:
  enum class State : uint8_t { waiting, open, done };

  Status sort() {
    std::vector<State> state(nodes_.size(), State::waiting);
    std::vector<size_t> next(nodes_.size(), 0);
    for (size_t root = 0; root < nodes_.size(); ++root) {
      if (state[root] != State::waiting) continue;
      std::vector<size_t> stack{root};
      state[root] = State::open;
      while (!stack.empty()) {
        const size_t top = stack.back();
        if (next[top] == needs_[top].size()) {
          state[top] = State::done;
          result_.order.push_back(top);
          stack.pop_back();
          continue;
        }
        const size_t need = needs_[top][next[top]++];
        if (state[need] == State::open) return cycle(stack, need);
        if (state[need] == State::waiting) {
          state[need] = State::open;
          stack.push_back(need);
        }
      }
    }
    return {};
  }

  std::string who(size_t i) const {
    const onnx::NodeProto& n = nodes_[i];
    return n.name.empty() ? format("node {} ({})", i, n.op_type.view())
                          : format("'{}' ({})", n.name.view(), n.op_type.view());
  }

  Status cycle(const std::vector<size_t>& stack, size_t again) const {
    std::string path = who(again);
    auto it = std::find(stack.begin(), stack.end(), again);
    for (size_t shown = 0; ++it != stack.end(); ++shown) {
      if (shown == 8) {
        path += " needs …";
        break;
      }
      path += " needs " + who(*it);
    }
    return error(Code::invalid_model, "nodes need each other in a circle: {} needs {}", path, who(again));
  }

  const std::vector<onnx::NodeProto>& nodes_;
  std::unordered_map<std::string_view, size_t> makers_;
  std::vector<std::vector<size_t>> needs_;
  NodeOrder result_;
};

}  // namespace

Result<NodeOrder> order_nodes(const std::vector<onnx::NodeProto>& nodes) { return Sorter(nodes).run(); }

}  // namespace sx::convert
