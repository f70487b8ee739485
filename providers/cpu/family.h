// SPDX-License-Identifier: Apache-2.0
// Family: the implementations of one operator on this provider, best first. Each entry says why it cannot
// take a node; `explain` prints these sentences. A file NAME.cc defines NAME::families(); the build line
// lists it.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/provider.h"
#include "runtime/weights.h"

namespace sx::cpu {

// A node as an implementation sees it: alone, or the anchor of a group with the group's operands.
struct Site {
  const Graph& graph;
  NodeId node;                 // in the graph's body
  NodeId anchor;               // the node itself, or the first member of the group
  const Body* body = nullptr;  // of the group

  Site(const Graph& g, NodeId n);
  const Node& op() const { return graph.node(anchor); }
  const Attrs& attrs() const { return op().attrs; }
  bool has(size_t i) const { return i < op().inputs.size() && op().inputs[i] != kNoValue; }
  const Type& in(size_t i) const { return graph.value(op().inputs[i]).type; }
  const Type& out(size_t i = 0) const { return graph.value(op().outputs[i]).type; }
  const Tensor* constant(size_t i) const;  // of the anchor's input i
  // Which operand of the step the anchor's input i, or any value of the group's body, is; -1: made inside.
  int operand(ValueId inside) const;
  int operand_of_input(size_t i) const { return has(i) ? operand(op().inputs[i]) : -1; }
  bool is_f32(size_t i) const { return has(i) && in(i).is_tensor() && in(i).elem == DType::f32; }
  bool ranked(size_t i) const { return has(i) && in(i).is_tensor() && in(i).shape.known; }
};

struct Implementation {
  std::string_view name;
  std::string (*refuses)(const Site& site);  // empty: it takes the node
  Result<std::unique_ptr<Kernel>> (*make)(CompileContext& context);
};

struct Family {
  std::string_view op, domain = "";
  std::span<const Implementation> list;
  std::vector<LayoutOffer> (*layouts)(const Graph& graph, NodeId node) = nullptr;
  // May `next` join a group that starts with this operator?
  bool (*can_fuse)(const Graph& graph, std::span<const NodeId> members, NodeId next,
                   std::string* why_not) = nullptr;
};

const Family* find_family(std::string_view domain, std::string_view op);
bool is_pointwise(const Graph& graph, NodeId node);  // part of a pointwise program

// Most refusals: what every f32 kernel needs of its operands.
std::string refuse_unless_f32(const Site& site, std::initializer_list<size_t> inputs);

// A kernel whose run is written down in one class; saves the boilerplate.
class NamedKernel : public Kernel {
 public:
  std::string_view name() const override { return name_; }
  const KernelTraits& traits() const override { return traits_; }

 protected:
  std::string name_;
  KernelTraits traits_;
};

inline bool bit(uint64_t bits, size_t i) { return i < 64 && ((bits >> i) & 1); }
Result<std::vector<int64_t>> ints_of(const View& v);  // contents of an i32 or i64 operand
double nanoseconds_for_flops(double flops);
double nanoseconds_for_bytes(double bytes);

}  // namespace sx::cpu
