// SPDX-License-Identifier: Apache-2.0
// From a placed graph to a program: which values need a step at all, which are views, which steps run where.
#include <algorithm>

#include "base/format.h"
#include "graph/op.h"
#include "runtime/program.h"
#include "runtime/symbols.h"

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
    slot_of_.assign(graph_.values(), kNoSlot);
    needed_.assign(graph_.values(), false);
    kernels_.resize(graph_.nodes());
    program_->machine_ = &machine;
    program_->body_ = body;
  }

  Result<std::unique_ptr<Program>> build() {
    find_captured();
    add_inputs();
    now_ = start_;
    find_needed();
    SX_TRY(compile_kernels());
    for (NodeId n : graph_.body(body_).nodes) {
      if (!skip(n)) SX_TRY(add_node(n).in(describe(graph_, n)));
    }
    SX_TRY(add_outputs());
    SX_TRY(upload_constants());
    find_lifetimes();
    find_outer_symbols();
    program_->times_.resize(program_->steps_.size());
    return std::move(program_);
  }

 private:
  const Body& body() const { return graph_.body(body_); }

  // ---- what comes in

  void walk_bodies(BodyId b, std::vector<bool>& inside, std::vector<BodyId>& all) {
    inside[b] = true;
    all.push_back(b);
    for (NodeId n : graph_.body(b).nodes) {
      for (const Attr& a : graph_.node(n).attrs.list()) {
        if (auto* ref = std::get_if<BodyRef>(&a.value)) walk_bodies(ref->id, inside, all);
        if (auto* refs = std::get_if<std::vector<BodyRef>>(&a.value)) {
          for (const BodyRef& r : *refs) walk_bodies(r.id, inside, all);
        }
      }
    }
  }

  void find_captured() {
    if (body_ == kMainBody) return;
    std::vector<bool> inside(graph_.bodies());
    std::vector<BodyId> all;
    walk_bodies(body_, inside, all);
    auto look = [&](ValueId v) {
      if (v == kNoValue || inside[graph_.value(v).body] || graph_.value(v).is_constant()) return;
      auto& list = program_->captured_;
      if (std::find(list.begin(), list.end(), v) == list.end()) list.push_back(v);
    };
    for (BodyId b : all) {
      for (NodeId n : graph_.body(b).nodes) {
        for (ValueId v : graph_.node(n).inputs) look(v);
      }
      for (ValueId v : graph_.body(b).outputs) look(v);
    }
  }

  static bool numeric(const Type& type) { return type.is_tensor() && type.elem != DType::string; }

  Slot describe_slot(ValueId v) const {
    const ValueInfo& info = graph_.value(v);
    Slot slot;
    slot.value = v;
    slot.layout = placement_.layout(v);
    slot.type = info.type.elem;
    slot.rank_known = info.type.is_tensor() && info.type.shape.known;
    if (slot.rank_known) slot.dims = info.type.shape.dims;
    if (!numeric(info.type)) slot.kind = Slot::Kind::value;
    return slot;
  }

  SlotId add_slot(Slot slot) {
    program_->slots_.push_back(std::move(slot));
    return SlotId(program_->slots_.size() - 1);
  }

  void add_input(ValueId v) {
    Slot slot = describe_slot(v);
    slot.kind = Slot::Kind::input;
    for (Dim d : slot.dims) {
      if (const int64_t s = pure_symbol(d); s >= 0) start_[size_t(s)] = true;
    }
    slot_of_[v] = add_slot(std::move(slot));
    program_->inputs_.push_back(slot_of_[v]);
  }

  void add_inputs() {
    for (ValueId v : body().inputs) add_input(v);
    for (ValueId v : program_->captured_) add_input(v);
  }

  // ---- what is needed

  bool follows_from_dims(ValueId v) const {
    const ValueInfo& info = graph_.value(v);
    if (info.is_constant() || !info.has_elements || !info.type.is_tensor() ||
        !dtype_is_integer(info.type.elem))
      return false;
    return info.type.shape.is_constant() && only_known(info.elements, start_);
  }

  bool is_done(ValueId v) const {
    return v == kNoValue || graph_.value(v).is_constant() || follows_from_dims(v);
  }

  void need(ValueId v) {
    if (v != kNoValue) needed_[v] = true;
  }

  void find_needed() {
    for (ValueId v : body().outputs) need(v);
    const auto& nodes = body().nodes;
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      const Node& node = graph_.node(*it);
      if (skip(*it)) continue;
      if (node.op->control_flow) need_captured_by(*it);
      // A view whose sizes are known only during the run may have to be made by its record after all.
      if (node.op->view && may_alias(node) && sized_at_start(node)) {
        need(node.inputs[size_t(node.op->view_of)]);
        continue;
      }
      for (ValueId v : node.inputs) need(v);
    }
  }

  bool sized_at_start(const Node& node) const {
    for (ValueId v : node.outputs) {
      if (v == kNoValue) continue;
      const Type& type = graph_.value(v).type;
      if (!type.is_tensor() || !type.shape.known || !only_known(type.shape.dims, start_)) return false;
    }
    return true;
  }

  void need_captured_by(NodeId n) {
    std::vector<bool> inside(graph_.bodies());
    std::vector<BodyId> all;
    for (const Attr& a : graph_.node(n).attrs.list()) {
      if (auto* ref = std::get_if<BodyRef>(&a.value)) walk_bodies(ref->id, inside, all);
    }
    for (BodyId b : all) {
      for (NodeId inner : graph_.body(b).nodes) {
        for (ValueId v : graph_.node(inner).inputs) need(v);
      }
      for (ValueId v : graph_.body(b).outputs) need(v);
    }
  }

  // Nothing has to run for this node: nobody needs it, or its results are known without it.
  bool skip(NodeId n) const {
    const Node& node = graph_.node(n);
    for (ValueId v : node.outputs) {
      if (v != kNoValue && needed_[v] && !is_done(v)) return false;
    }
    return true;
  }

  // ---- kernels

  // A view that keeps the order costs nothing; the rest is decided once its readers' kernels are known.
  bool may_alias(const Node& node) const {
    if (!node.op->view) return false;
    const ValueId from = node.inputs[size_t(node.op->view_of)];
    if (from == kNoValue || !placement_.layout(from).plain()) return false;
    if (node.op->view_keeps_order) return true;
    for (size_t i = 0; i < node.inputs.size();
         ++i) {  // starts, steps and the like must be known when planning
      if (i != size_t(node.op->view_of) && !is_done(node.inputs[i])) return false;
    }
    return readers_take_strides(node);
  }

  // The memory space that a value lies in before anybody asks for it elsewhere.
  int home_of(ValueId v) const {
    const NodeId producer = graph_.value(v).producer;
    if (producer == kNoNode || graph_.value(v).is_constant()) return 0;
    const Node& node = graph_.node(producer);
    if (node.op->control_flow) return 0;
    return may_alias(node) ? home_of(node.inputs[size_t(node.op->view_of)])
                           : space_of(placement_.provider(producer));
  }

  bool readers_take_strides(const Node& node) const {
    const int home = home_of(node.inputs[size_t(node.op->view_of)]);
    for (ValueId v : node.outputs) {
      if (v == kNoValue || graph_.use_count(v) == 0) continue;
      if (graph_.use_count(v) != graph_.value(v).uses.size()) return false;  // a body's output
      if (!numeric(graph_.value(v).type) || !graph_.value(v).type.shape.known) return false;
      for (const Use& use : graph_.value(v).uses) {
        if (space_of(placement_.provider(use.node)) != home) return false;
        const Kernel* kernel = kernels_[use.node].get();
        if (!kernel || use.input >= 64 || kernel->traits().values) return false;
        if (!((kernel->traits().strided_inputs >> use.input) & 1)) return false;
      }
    }
    return true;
  }

  Result<std::unique_ptr<Kernel>> compile(NodeId n, Provider* provider) {
    const Node& node = graph_.node(n);
    std::vector<Layout> in, out;
    for (ValueId v : node.inputs) in.push_back(v == kNoValue ? Layout() : placement_.layout(v));
    for (ValueId v : node.outputs) out.push_back(v == kNoValue ? Layout() : placement_.layout(v));
    if (node.op->domain == "sx" && node.op->name == "Reorder") {
      const DType type = graph_.value(node.inputs[0]).type.elem;
      return provider->compile_reorder(type, in[0], out[0]);
    }
    CompileContext context{graph_, n, in, out, *machine_.weights};
    return provider->compile(context);
  }

  // Backwards, so that a view knows whether its readers take strides.
  Status compile_kernels() {
    const auto& nodes = body().nodes;
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      const Node& node = graph_.node(*it);
      if (skip(*it) || node.op->control_flow || may_alias(node)) continue;
      auto kernel = compile(*it, placement_.provider(*it));
      if (!kernel.ok()) return std::move(kernel).status().in(describe(graph_, *it));
      kernels_[*it] = std::move(kernel).value();
    }
    return {};
  }

  // ---- slots of operands

  SlotId input_slot(ValueId v) {
    if (v == kNoValue) {
      if (absent_ == kNoSlot) {
        Slot slot;
        slot.kind = Slot::Kind::absent;
        absent_ = add_slot(std::move(slot));
      }
      return absent_;
    }
    if (slot_of_[v] != kNoSlot) return slot_of_[v];
    Slot slot = describe_slot(v);
    slot.kind = graph_.value(v).is_constant() ? Slot::Kind::constant : Slot::Kind::shape;
    if (!is_done(v) && missing_.empty()) missing_ = graph_.value(v).name;
    slot.layout = {};
    slot_of_[v] = add_slot(std::move(slot));
    return slot_of_[v];
  }

  SlotId output_slot(ValueId v, int space) {
    if (v == kNoValue) return input_slot(v);
    Slot slot = describe_slot(v);
    slot.space = space;
    if (slot.kind != Slot::Kind::value) {
      const bool early = slot.rank_known && only_known(slot.dims, start_);
      slot.kind = early ? Slot::Kind::planned : Slot::Kind::late;
    }
    slot_of_[v] = add_slot(std::move(slot));
    return slot_of_[v];
  }

  // A slot with the same contents in another memory space; a transfer step is added where there is none yet.
  SlotId in_space(SlotId s, int space) {
    const Slot& slot = program_->slots_[s];
    if (slot.space == space || slot.kind == Slot::Kind::absent) return s;
    const bool constant = slot.kind == Slot::Kind::constant && space != 0;  // copied once, below
    for (auto& [key, mirror] : mirrors_) {
      if (key.first == s && key.second == space) return mirror;
    }
    Slot copy = slot;
    copy.kind = slot.kind == Slot::Kind::late ? Slot::Kind::late : constant ? slot.kind : Slot::Kind::planned;
    copy.alias_of = kNoSlot;
    copy.view_node = kNoNode;
    copy.space = space;
    const int from = slot.space;
    const SlotId mirror = add_slot(std::move(copy));
    mirrors_.push_back({{s, space}, mirror});
    if (constant) return mirror;
    Step step;
    step.kind = Step::Kind::transfer;
    step.space = from;
    step.label = graph_.value(program_->slots_[s].value).name + (space ? " to provider" : " to host");
    step.provider = machine_.spaces[size_t(space ? space : from)];
    step.in = {s};
    step.out = {mirror};
    program_->steps_.push_back(std::move(step));
    return mirror;
  }

  int space_of(const Provider* provider) const {
    for (size_t i = 1; i < machine_.spaces.size(); ++i) {
      if (machine_.spaces[i] == provider) return int(i);
    }
    return 0;
  }

  // ---- steps

  Status add_node(NodeId n) {
    const Node& node = graph_.node(n);
    if (node.op->control_flow) return add_control(n);
    if (!kernels_[n] && may_alias(node)) return add_view(n);
    if (!kernels_[n]) {
      SX_ASSIGN(kernels_[n], compile(n, placement_.provider(n)));
    }
    return add_kernel(n, placement_.provider(n));
  }

  bool outputs_resolve(const Node& node) const {
    for (ValueId v : node.outputs) {
      if (v == kNoValue) continue;
      const Type& type = graph_.value(v).type;
      if (!numeric(type) || !type.shape.known || !only_known(type.shape.dims, now_)) return false;
    }
    return true;
  }

  bool has_late_or_value(const Step& step) const {
    auto late = [&](SlotId s) {
      const Slot::Kind kind = program_->slots_[s].kind;
      const SlotId root = program_->slots_[s].alias_of;
      return kind == Slot::Kind::late || kind == Slot::Kind::value ||
             (root != kNoSlot && program_->slots_[root].kind == Slot::Kind::late);
    };
    return std::any_of(step.in.begin(), step.in.end(), late) ||
           std::any_of(step.out.begin(), step.out.end(), late);
  }

  bool inputs_are_ranked(const Node& node) const {
    for (ValueId v : node.inputs) {
      if (v != kNoValue && (!numeric(graph_.value(v).type) || !graph_.value(v).type.shape.known))
        return false;
    }
    return true;
  }

  Status add_kernel(NodeId n, Provider* provider) {
    const Node& node = graph_.node(n);
    Step step;
    step.node = n;
    step.label = node.name.empty() ? format("{}", node.op->name) : node.name;
    step.provider = provider;
    step.space = space_of(provider);
    bool values = kernels_[n]->traits().values;
    // Dims that only a run can tell need a kernel that makes its own outputs: the last provider has one for
    // all.
    const bool dynamic = !outputs_resolve(node) || !inputs_are_ranked(node);
    const bool foreign_late = step.space != 0 && (dynamic || touches_late(node));
    if ((!values && dynamic) || foreign_late) {
      step.provider = machine_.placement->providers.back();
      step.space = 0;
      SX_ASSIGN(kernels_[n], compile(n, step.provider));
      values = kernels_[n]->traits().values;
    }
    const uint64_t unused = kernels_[n]->traits().unused_inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      SlotId s = input_slot(node.inputs[i]);
      const bool read = i >= 64 || !((unused >> i) & 1);
      step.in.push_back(read ? in_space(s, step.space) : s);
    }
    for (ValueId v : node.outputs) step.out.push_back(output_slot(v, step.space));
    step.kind = values ? Step::Kind::values : Step::Kind::kernel;
    step.late = has_late_or_value(step);
    step.kernel = std::move(kernels_[n]);
    program_->steps_.push_back(std::move(step));
    learn_symbols(node);
    return {};
  }

  bool touches_late(const Node& node) const {
    for (ValueId v : node.inputs) {
      if (v != kNoValue && slot_of_[v] != kNoSlot && program_->slots_[slot_of_[v]].kind == Slot::Kind::late)
        return true;
    }
    for (ValueId v : node.outputs) {
      if (v != kNoValue && !only_known(graph_.value(v).type.shape.dims, start_)) return true;
    }
    return false;
  }

  void learn_symbols(const Node& node) {
    for (ValueId v : node.outputs) {
      if (v == kNoValue || !graph_.value(v).type.is_tensor()) continue;
      for (Dim d : graph_.value(v).type.shape.dims) {
        if (const int64_t s = pure_symbol(d); s >= 0) now_[size_t(s)] = true;
      }
    }
  }

  Status add_view(NodeId n) {
    const Node& node = graph_.node(n);
    const SlotId from = input_slot(node.inputs[size_t(node.op->view_of)]);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId v = node.outputs[i];
      if (v == kNoValue || !needed_[v] || is_done(v)) continue;
      const Slot source = program_->slots_[from];
      const bool resolved = outputs_resolve(node) && source.kind != Slot::Kind::value;
      if (!resolved) {  // unknown rank or not a tensor: the record itself runs it
        SX_ASSIGN(kernels_[n], compile(n, machine_.placement->providers.back()));
        return add_kernel(n, machine_.placement->providers.back());
      }
      const SlotId s = output_slot(v, source.space);
      Slot& slot = program_->slots_[s];
      slot.alias_of = from;
      slot.view_node = n;
      slot.view_output = i;
      const bool late = slot.kind == Slot::Kind::late || is_late(from);
      if (late) {
        slot.kind = Slot::Kind::late;
        Step step;
        step.kind = Step::Kind::view;
        step.node = n;
        step.label = node.name;
        step.space = source.space;
        step.late = true;
        step.in = {from};
        step.out = {s};
        program_->steps_.push_back(std::move(step));
      } else {
        slot.kind = Slot::Kind::planned;
      }
    }
    return {};
  }

  bool is_late(SlotId s) const {
    for (; s != kNoSlot; s = program_->slots_[s].alias_of) {
      if (program_->slots_[s].kind == Slot::Kind::late) return true;
    }
    return false;
  }

  Status add_control(NodeId n) {
    const Node& node = graph_.node(n);
    Step step;
    step.node = n;
    step.label = node.name.empty() ? format("{}", node.op->name) : node.name;
    step.late = true;
    const bool branch = node.op->name == "If";
    step.kind = branch ? Step::Kind::branch : Step::Kind::control;
    for (ValueId v : node.inputs) step.in.push_back(in_space(input_slot(v), 0));
    std::vector<BodyId> bodies;
    if (branch) {
      for (const char* name : {"then_branch", "else_branch"}) {
        const BodyRef* ref = node.attrs.get<BodyRef>(name);
        if (!ref) return error(Code::invalid_model, "attribute '{}' is missing", name);
        bodies.push_back(ref->id);
      }
    } else {
      for (const Attr& a : node.attrs.list()) {
        if (auto* ref = std::get_if<BodyRef>(&a.value)) bodies.push_back(ref->id);
      }
    }
    for (BodyId b : bodies) {
      SX_ASSIGN(auto child, Program::build(machine_, b, start_));
      for (ValueId v : child->captured()) step.in.push_back(in_space(input_slot(v), 0));
      step.children.push_back(std::move(child));
    }
    for (ValueId v : node.outputs) step.out.push_back(output_slot(v, 0));
    program_->steps_.push_back(std::move(step));
    learn_symbols(node);
    return {};
  }

  // ---- what goes out

  bool can_write_output(SlotId root, SlotId output) const {
    const Slot& slot = program_->slots_[root];
    if (slot.kind != Slot::Kind::planned || slot.space != 0 || !slot.layout.plain()) return false;
    for (size_t w : program_->output_writer_) {
      if (w == root) return false;
    }
    // The output may be a view of the root, but only one that covers it in order.
    for (SlotId s = output; s != root; s = program_->slots_[s].alias_of) {
      if (!graph_.node(program_->slots_[s].view_node).op->view_keeps_order) return false;
    }
    return true;
  }

  Status add_outputs() {
    for (ValueId v : body().outputs) {
      SlotId s = in_space(input_slot(v), 0);
      SlotId root = s;
      while (program_->slots_[root].alias_of != kNoSlot) root = program_->slots_[root].alias_of;
      program_->output_writer_.push_back(can_write_output(root, s) ? root : kNoSlot);
      program_->outputs_.push_back(s);
    }
    return {};
  }

  // Constants that a provider with memory of its own reads lie there from now on.
  Status upload_constants() {
    for (Slot& slot : program_->slots_) {
      if (slot.kind != Slot::Kind::constant || slot.space == 0) continue;
      const Tensor& tensor = graph_.value(slot.value).constant.tensor;
      MemorySpace* memory = machine_.spaces[size_t(slot.space)]->memory();
      SX_ASSIGN(slot.device, memory->allocate(tensor.bytes() + kAlignment));
      SX_TRY(memory->copy_in(slot.device, tensor.data(), tensor.bytes()).in(graph_.value(slot.value).name));
    }
    return {};
  }

  void find_lifetimes() {
    auto& slots = program_->slots_;
    auto& steps = program_->steps_;
    auto touch = [&](SlotId s, int step) {
      for (; s != kNoSlot; s = slots[s].alias_of) {
        if (slots[s].first < 0) slots[s].first = step;
        slots[s].last = std::max(slots[s].last, step);
      }
    };
    for (size_t i = 0; i < steps.size(); ++i) {
      for (SlotId s : steps[i].in) touch(s, int(i));
      for (SlotId s : steps[i].out) touch(s, int(i));
    }
    for (SlotId s : program_->outputs_) touch(s, int(steps.size()));
    for (SlotId s = 0; s < slots.size(); ++s) {
      const bool held = slots[s].kind == Slot::Kind::late || slots[s].kind == Slot::Kind::value;
      if (held && slots[s].last >= 0 && size_t(slots[s].last) < steps.size())
        steps[size_t(slots[s].last)].release.push_back(s);
    }
  }

  // Dims here may mention symbols that only the enclosing program binds.
  void find_outer_symbols() {
    std::vector<bool> own(graph_.pool().symbols());
    for (SlotId s : program_->inputs_) {
      for (Dim d : program_->slots_[s].dims) {
        if (const int64_t x = pure_symbol(d); x >= 0) own[size_t(x)] = true;
      }
    }
    std::vector<bool> seen = own;
    auto visit = [&](uint32_t s) {
      if (seen[s] || !start_[s]) return;
      seen[s] = true;
      program_->outer_symbols_.push_back(s);
    };
    for (const Slot& slot : program_->slots_) {
      for (Dim d : slot.dims) each_symbol(d, visit);
      if (slot.kind == Slot::Kind::shape) {
        for (Dim d : graph_.value(slot.value).elements) each_symbol(d, visit);
      }
    }
    for (const Step& step : program_->steps_) {
      for (const auto& child : step.children) {
        for (uint32_t s : child->outer_symbols_) visit(s);
      }
    }
  }

  Machine& machine_;
  const Graph& graph_;
  const Placement& placement_;
  BodyId body_;
  std::vector<bool> start_, now_;  // symbols known when the program starts, and at the step being added
  std::unique_ptr<Program> program_;
  std::vector<SlotId> slot_of_;
  std::vector<bool> needed_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::pair<std::pair<SlotId, int>, SlotId>> mirrors_;
  SlotId absent_ = kNoSlot;
  std::string missing_;  // a value that is read but that no step makes
};

Result<std::unique_ptr<Program>> Program::build(Machine& machine, BodyId body,
                                                const std::vector<bool>& known) {
  return ProgramBuilder(machine, body, known).build();
}

}  // namespace sx
