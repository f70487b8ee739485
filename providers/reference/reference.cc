// SPDX-License-Identifier: Apache-2.0
// The reference provider: runs any operator by its record's evaluation. The last resort, and the measure of
// the rest.
#include "base/format.h"
#include "graph/evaluate.h"
#include "graph/op.h"
#include "providers.h"

namespace sx::reference {
namespace {

class RecordKernel final : public Kernel {
 public:
  RecordKernel(const Graph& graph, NodeId node) : graph_(graph), node_(node) {
    traits_.values = true;
    const Node& n = graph.node(node);
    name_ = format("record of {}", n.op->name);
  }
  std::string_view name() const override { return name_; }
  const KernelTraits& traits() const override { return traits_; }
  Status run_values(std::span<const Value> in, std::span<Value> out, RunContext& context) override {
    EvaluateOptions options;
    options.cancel = context.cancel;
    SX_ASSIGN(std::vector<Value> results, evaluate_node(graph_, node_, in, options));
    for (size_t i = 0; i < out.size() && i < results.size(); ++i) out[i] = std::move(results[i]);
    return {};
  }

 private:
  const Graph& graph_;
  NodeId node_;
  KernelTraits traits_;
  std::string name_;
};

class ReferenceProvider final : public Provider {
 public:
  std::string_view name() const override { return "reference"; }
  Claim claim(const Graph& graph, NodeId node) const override {
    const Node& n = graph.node(node);
    if (!n.op)
      return Claim::no(
          format("there is no operator '{}{}{}'", n.domain, n.domain.empty() ? "" : ".", n.type));
    if (!n.op->eval && !n.op->body) return Claim::no("the record has no evaluation");
    return {true, 1e9, "record evaluation"};
  }
  Result<std::unique_ptr<Kernel>> compile(CompileContext& context) override {
    return std::unique_ptr<Kernel>(new RecordKernel(context.graph, context.node));
  }
  Result<std::unique_ptr<Kernel>> compile_reorder(DType, const Layout& from, const Layout& to) override {
    return error(Code::internal, "the record evaluation cannot move {} to {}", to_string(from),
                 to_string(to));
  }
};

}  // namespace

std::unique_ptr<Provider> make() { return std::make_unique<ReferenceProvider>(); }

}  // namespace sx::reference
