// SPDX-License-Identifier: Apache-2.0
#include "runtime/compiled.h"

#include <algorithm>

#include "base/format.h"
#include "graph/infer_graph.h"
#include "passes/optimize.h"
#include "runtime/symbols.h"
#include "runtime/weight_staging.h"
#include "runtime/weights.h"

namespace sx {

Result<std::unique_ptr<Compiled>> compile_graph(Graph graph, const CompileSettings& settings) {
  auto c = std::make_unique<Compiled>();
  c->graph = std::move(graph);
  c->placement.providers = settings.providers;
  SX_TRY(claim_nodes(c->graph, c->placement));
  SX_TRY(fuse_groups(c->graph, c->placement));
  SX_TRY(assign_layouts(c->graph, c->placement));
  Machine& machine = c->machine;
  machine.graph = &c->graph;
  machine.placement = &c->placement;
  machine.weights = settings.weights;
  machine.parallel = settings.parallel;
  machine.most_plans = settings.most_plans;
  machine.profile = settings.profile;
  machine.pools.push_back(std::make_unique<BlockPool>(settings.memory));
  machine.spaces.push_back(nullptr);
  for (Provider* p : c->placement.providers) {
    if (!p->memory()) continue;
    machine.pools.push_back(std::make_unique<BlockPool>(p->memory()));
    machine.spaces.push_back(p);
  }
  const auto staging = settings.weights->stage();
  SX_ASSIGN(c->program, Program::build(machine, kMainBody, {}));
  return c;
}

size_t late_values(const Program& program) {
  size_t n = 0;
  for (const Slot& slot : program.slots()) n += slot.kind == Slot::Kind::late ? 1 : 0;
  for (const Step& step : program.steps()) {
    for (const auto& child : step.children) n += late_values(*child);
  }
  return n;
}

Result<Graph> with_own_names(const Graph& graph) {
  SX_ASSIGN(Graph own, graph.clone_apart());
  for (ValueId v : own.main().inputs) {
    ValueInfo& input = own.value(v);
    for (size_t k = 0; k < input.type.shape.dims.size(); ++k) {
      Dim& d = input.type.shape.dims[k];
      if (!d.is_constant()) d = own.pool().symbol(format("{}.{}", input.name, k));
    }
  }
  SX_TRY(infer_anew(own));
  return own;
}

std::string contradiction(const Graph& graph, std::span<const Dims> sizes) {
  std::vector<int64_t> bound(graph.pool().symbols(), -1);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Type& type = graph.value(graph.main().inputs[i]).type;
    if (!type.is_tensor() || type.shape.rank() != sizes[i].size()) continue;
    for (size_t k = 0; k < sizes[i].size(); ++k) {
      const int64_t s = pure_symbol(type.shape.dims[k]);
      if (s < 0) continue;
      int64_t& size = bound[size_t(s)];
      if (size >= 0 && size != sizes[i][k])
        return format("dimensions named '{}' have the sizes {} and {}", to_string(type.shape.dims[k]), size,
                      sizes[i][k]);
      size = sizes[i][k];
    }
  }
  return "";
}

Result<Graph> with_input_sizes(const Graph& graph, std::span<const Dims> sizes, const Log& log) {
  std::vector<int64_t> known(graph.pool().symbols(), -1);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Type& type = graph.value(graph.main().inputs[i]).type;
    if (!type.is_tensor() || type.shape.rank() != sizes[i].size()) continue;
    for (size_t k = 0; k < sizes[i].size(); ++k) {
      if (const int64_t s = pure_symbol(type.shape.dims[k]); s >= 0) known[size_t(s)] = sizes[i][k];
    }
  }
  SX_ASSIGN(Graph fixed, graph.clone_apart(known));
  for (size_t i = 0; i < sizes.size(); ++i) {  // an input of unknown rank gets the one it has
    Type& type = fixed.value(fixed.main().inputs[i]).type;
    if (type.is_tensor() && !type.shape.known) type.shape = constant_shape(sizes[i]);
  }
  SX_TRY(infer_graph(fixed));
  SX_TRY(passes::optimize(fixed, {.log = log}));
  return fixed;
}

}  // namespace sx
