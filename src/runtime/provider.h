// SPDX-License-Identifier: Apache-2.0
// Provider: somebody who can run parts of a graph. The runtime asks what it claims, which layouts it offers
// and what it can fuse, and has it compile nodes and groups into kernels.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/op.h"
#include "runtime/kernel.h"

namespace sx {

class WeightStore;

// The answer to "can you run this node?". The reason is a sentence that `explain` prints: for a yes, which
// implementation it will be and why the ones before it in the list refused; for a no, why not.
struct Claim {
  bool yes = false;
  double cost = 0;  // estimated nanoseconds, for choosing between providers that both say yes
  std::string reason;
  static Claim no(std::string why) { return {false, 0, std::move(why)}; }
};

// One way to lay out a node's operands. Absent operands and operands that are no numeric tensors stay plain.
struct LayoutOffer {
  std::vector<Layout> in, out;
  double cost = 0;  // estimated nanoseconds of the node with this offer
};

// Where a provider keeps its tensors, if not in the host's memory.
class MemorySpace {
 public:
  virtual ~MemorySpace() = default;
  virtual Result<void*> allocate(size_t bytes) = 0;
  virtual void release(void* p) = 0;
  virtual Status copy_in(void* device, const void* host, size_t bytes) = 0;
  virtual Status copy_out(void* host, const void* device, size_t bytes) = 0;
};

struct CompileContext {
  const Graph& graph;
  NodeId node = kNoNode;            // an ordinary node, or a Group: then graph.body() of its `body` attribute
  std::span<const Layout> in, out;  // as assigned
  WeightStore& weights;
  Parallel& parallel;  // for packing
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;
  virtual Claim claim(const Graph& graph, NodeId node) const = 0;
  // Empty: everything plain. The first offer is used where none is cheaper; plain must be among them if it is
  // possible.
  virtual std::vector<LayoutOffer> layouts(const Graph& graph, NodeId node) const {
    (void)graph, (void)node;
    return {};
  }
  // May `next`, the only user of the group's result, join? `members` are in order; the first is where it
  // started.
  virtual bool can_fuse(const Graph& graph, std::span<const NodeId> members, NodeId next,
                        std::string* why_not) const {
    (void)graph, (void)members, (void)next, (void)why_not;
    return false;
  }
  virtual Result<std::unique_ptr<Kernel>> compile(CompileContext& context) = 0;
  // Moves between layouts; null: this provider has no such layouts.
  virtual Result<std::unique_ptr<Kernel>> compile_reorder(DType type, const Layout& from, const Layout& to) {
    (void)type, (void)from, (void)to;
    return Status(Code::unsupported, "this provider does not reorder");
  }
  // A provider that offers Layout::Kind::provider: the owner in those layouts, and the bytes that a tensor
  // takes in one.
  virtual uint32_t layout_owner() const { return 0; }
  virtual size_t own_bytes(DType type, const Layout& layout, std::span<const int64_t> dims) const {
    (void)type, (void)layout, (void)dims;
    return 0;
  }
  virtual MemorySpace* memory() { return nullptr; }  // null: host memory
};

// The providers that are linked in, best first, ending in the one that takes everything. Defined in
// providers/.
std::vector<std::unique_ptr<Provider>> builtin_providers();

// Helpers for providers.
const Body* group_body(const Graph& graph, NodeId node);  // null if the node is no group
bool is_group(const Graph& graph, NodeId node);
// Sizes for estimates: constants as they are, symbols guessed (batch-like 1, others 128).
int64_t estimate(Dim d);
double estimate_count(const Shape& shape);

}  // namespace sx
