// SPDX-License-Identifier: Apache-2.0
#include "convert/functions.h"

#include <algorithm>

#include "base/format.h"

namespace sx::convert {
namespace {

constexpr int kMostCalls = 64;  // functions in functions
constexpr size_t kMostCounted = SIZE_MAX / 2;

// Names are text without zeros: the reader has checked them.
template <class Named>
std::string key_of(std::string_view domain, std::string_view name, const Named& named) {
  std::string key(onnx::canonical_domain(domain));
  key.append(1, '\0').append(name).append(1, '\0').append(named.overload.view());
  return key;
}

void add(size_t& sum, size_t more) { sum = std::min(sum + std::min(more, kMostCounted), kMostCounted); }

template <class Visit>
void each_graph(const onnx::NodeProto& node, Visit visit) {
  for (const onnx::AttributeProto& a : node.attribute) {
    if (a.g) visit(*a.g);
    for (const onnx::GraphProto& g : a.graphs) visit(g);
  }
}

}  // namespace

std::string function_name(const onnx::FunctionProto& function) {
  return function.domain.empty() ? function.name.str() : function.domain.str() + "." + function.name.str();
}

size_t count_nodes(const onnx::GraphProto& graph) {
  size_t sum = graph.node.size();
  for (const onnx::NodeProto& n : graph.node) {
    each_graph(n, [&](const onnx::GraphProto& g) { sum += count_nodes(g); });
  }
  return sum;
}

Functions::Functions(const std::vector<onnx::FunctionProto>& list) {
  for (const onnx::FunctionProto& f : list) {
    const auto [it, fresh] = entries_.try_emplace(key_of(f.domain, f.name, f), Entry{&f});
    it->second.twice = !fresh;
  }
}

const onnx::FunctionProto* Functions::find(const onnx::NodeProto& node) const {
  if (entries_.empty()) return nullptr;
  const auto it = entries_.find(key_of(node.domain, node.op_type, node));
  return it == entries_.end() ? nullptr : it->second.function;
}

Result<size_t> Functions::nodes_made(const onnx::FunctionProto& function) {
  return count(entries_.find(key_of(function.domain, function.name, function))->second, 1);
}

Result<size_t> Functions::count(Entry& entry, int depth) {
  if (entry.nodes > 0) return entry.nodes;
  if (entry.twice)
    return error(Code::invalid_model, "function '{}' is defined twice", function_name(*entry.function));
  if (entry.open)
    return error(Code::invalid_model, "function '{}' calls itself", function_name(*entry.function));
  if (depth > kMostCalls) {
    return error(Code::invalid_model, "calls of functions are nested more than {} deep, at function '{}'",
                 kMostCalls, function_name(*entry.function));
  }
  entry.open = true;
  size_t sum = 1;  // the call itself, so that empty functions cost something too
  Status status = count_nodes(entry.function->node, depth, sum);
  entry.open = false;
  if (!status.ok()) return status;
  return entry.nodes = sum;
}

Status Functions::count_nodes(const std::vector<onnx::NodeProto>& nodes, int depth, size_t& sum) {
  add(sum, nodes.size());
  for (const onnx::NodeProto& n : nodes) {
    if (const auto it = entries_.find(key_of(n.domain, n.op_type, n)); it != entries_.end()) {
      SX_ASSIGN(const size_t inner, count(it->second, depth + 1));
      add(sum, inner);
    }
    Status status;
    each_graph(n, [&](const onnx::GraphProto& g) {
      if (status.ok()) status = count_nodes(g.node, depth, sum);
    });
    SX_TRY(std::move(status));
  }
  return {};
}

}  // namespace sx::convert
