// SPDX-License-Identifier: Apache-2.0
// ProgramBuilder: from a placed graph to a program. Internal to build_program.cc (what comes in, what is
// needed, what goes out) and build_steps.cc (kernels, slots and steps).
#pragma once
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "graph/op.h"
#include "runtime/program.h"

namespace sx {

class ProgramBuilder {
 public:
  ProgramBuilder(Machine& machine, BodyId body, const std::vector<bool>& known)
      : machine_(machine),
        graph_(*machine.graph),
        placement_(*machine.placement),
        body_(body),
        start_(known),
        program_(new Program) {
    start_.resize(graph_.pool().symbols());
    program_->machine_ = &machine;
    program_->body_ = body;
  }
  Result<std::unique_ptr<Program>> build();

 private:
  const Body& body() const { return graph_.body(body_); }
  SlotId slot_of(ValueId v) const {
    const auto it = slot_of_.find(v);
    return it == slot_of_.end() ? kNoSlot : it->second;
  }
  const Kernel* kernel_of(NodeId n) const {
    const auto it = kernels_.find(n);
    return it == kernels_.end() ? nullptr : it->second.get();
  }

  // ---- what comes in
  // A body and those within it.
  void walk_bodies(BodyId b, std::vector<BodyId>& all) const;
  void each_read(const std::vector<BodyId>& bodies, FunctionRef<void(ValueId)> visit) const;
  void find_captured();
  static bool numeric(const Type& type) { return type.is_tensor() && type.elem != DType::string; }
  Slot describe_slot(ValueId v) const;
  SlotId add_slot(Slot slot);
  void add_input(ValueId v);
  void add_inputs();

  // ---- what is needed
  bool follows_from_dims(ValueId v) const;
  bool is_done(ValueId v) const;
  void need(ValueId v);
  void find_needed();
  bool sized_at_start(const Node& node) const;
  void need_captured_by(NodeId n);
  // Nothing has to run for this node: nobody needs it, or its results are known without it.
  bool skip(NodeId n) const;

  // ---- kernels
  // A view that keeps the order costs nothing; the rest is decided once its readers' kernels are known.
  bool may_alias(const Node& node) const;
  // The memory space that a value lies in before anybody asks for it elsewhere.
  int home_of(ValueId v) const;
  bool readers_take_strides(const Node& node) const;
  Result<std::unique_ptr<Kernel>> compile(NodeId n, Provider* provider);
  // A nested body may never run, so what is wrong with a node in it need not stop the model from loading.
  bool may_wait(NodeId n, const Status& wrong) const;
  Provider* provider_of(NodeId n) const;
  // Backwards, so that a view knows whether its readers take strides.
  Status compile_kernels();

  // ---- slots of operands
  SlotId input_slot(ValueId v);
  SlotId output_slot(ValueId v, int space);
  // A slot with the same contents in another memory space; a transfer step is added where there is none yet.
  SlotId in_space(SlotId s, int space);
  int space_of(const Provider* provider) const;

  // ---- steps
  Status add_node(NodeId n);
  bool outputs_resolve(const Node& node) const;
  bool has_late_or_value(const Step& step) const;
  bool inputs_are_ranked(const Node& node) const;
  Status add_kernel(NodeId n, Provider* provider);
  bool touches_late(const Node& node) const;
  void learn_symbols(const Node& node);
  Status add_view(NodeId n);
  bool is_late(SlotId s) const;
  Status add_control(NodeId n);

  // ---- what goes out
  bool can_write_output(SlotId root, SlotId output) const;
  Status add_outputs();
  Status align_constants();
  // Constants that a provider with memory of its own reads lie there from now on.
  Status upload_constants();
  void find_lifetimes();
  // Dims here may mention symbols that only the enclosing program binds.
  void find_outer_symbols();

  Machine& machine_;
  const Graph& graph_;
  const Placement& placement_;
  BodyId body_;
  std::vector<bool> start_, now_;  // symbols known when the program starts, and at the step being added
  std::unique_ptr<Program> program_;
  // Of this body's nodes and the values they touch, which may be few of the graph's.
  std::unordered_map<ValueId, SlotId> slot_of_;
  std::unordered_set<ValueId> needed_;
  std::unordered_map<NodeId, std::unique_ptr<Kernel>> kernels_;
  std::unordered_set<NodeId> waiting_;  // left to their records, which say what is wrong where it runs
  std::map<std::pair<SlotId, int>, SlotId> mirrors_;
  std::unordered_set<SlotId> written_outputs_;  // roots that lie in an output's memory
  SlotId absent_ = kNoSlot;
  std::string missing_;  // a value that is read but that no step makes
};

}  // namespace sx
