// SPDX-License-Identifier: Apache-2.0
// SizeCheck: before a kernel sees sizes for the first time, the record's own inference has to agree to them.
// A group is asked member by member, so that fusing a node never loses one of its checks.
#pragma once
#include <span>
#include <vector>

#include "graph/graph.h"
#include "graph/infer.h"
#include "runtime/kernel.h"

namespace sx {

class SizeCheck {
 public:
  // `symbols`: what the dims of the graph stand for now; -1 where that is not known.
  SizeCheck(const Graph& graph, std::span<const int64_t> symbols) : graph_(graph), symbols_(symbols) {}

  // Operands as they will reach the kernel; one whose view is null or not defined() is taken as the graph
  // describes it.
  Status agree(NodeId node, ViewList in, ViewList out);

 private:
  struct Known {
    Type type;
    std::vector<Dim> elements;
    bool has_elements = false;
  };
  Known describe_value(ValueId v, const View* view);
  Dim resolved(Dim d);
  Result<std::vector<Known>> infer(NodeId node, std::span<const Known* const> in);
  Result<std::vector<Known>> infer_group(const Body& body, std::span<const Known> in);

  const Graph& graph_;
  std::span<const int64_t> symbols_;
  DimPool unknown_;  // for sizes that nobody knows yet; the graph's own pool is shared and only read
};

}  // namespace sx
