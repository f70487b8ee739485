// SPDX-License-Identifier: Apache-2.0
// The steps of a program: which of its views cost nothing, which kernels run where, and the slots they use.
#include <algorithm>

#include "base/format.h"
#include "runtime/program_builder.h"
#include "runtime/symbols.h"

namespace sx {

Slot ProgramBuilder::describe_slot(ValueId v) const {
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

SlotId ProgramBuilder::add_slot(Slot slot) {
  const SlotId id = SlotId(program_->slots_.size());
  slot.root = id;
  program_->slots_.push_back(std::move(slot));
  return id;
}

bool ProgramBuilder::may_alias(const Node& node) const {
  if (!node.op->view) return false;
  const ValueId from = node.inputs[size_t(node.op->view_of)];
  if (from == kNoValue || !placement_.layout(from).plain()) return false;
  if (node.op->view_keeps_order) return true;
  for (size_t i = 0; i < node.inputs.size(); ++i) {  // starts, steps and the like must be known when planning
    if (i != size_t(node.op->view_of) && !is_done(node.inputs[i])) return false;
  }
  return readers_take_strides(node);
}

int ProgramBuilder::home_of(ValueId v) const {
  while (machine_.spaces.size() > 1) {  // otherwise all is the host's
    const NodeId producer = graph_.value(v).producer;
    if (producer == kNoNode || graph_.value(v).is_constant()) return 0;
    const Node& node = graph_.node(producer);
    if (node.op->control_flow) return 0;
    if (!may_alias(node)) return space_of(placement_.provider(producer));
    v = node.inputs[size_t(node.op->view_of)];
  }
  return 0;
}

bool ProgramBuilder::readers_take_strides(const Node& node) const {
  std::vector<int> spaces;  // of the readers
  for (ValueId v : node.outputs) {
    if (v == kNoValue || graph_.use_count(v) == 0) continue;
    if (graph_.use_count(v) != graph_.value(v).uses.size()) return false;  // a body's output
    if (!numeric(graph_.value(v).type) || !graph_.value(v).type.shape.known) return false;
    for (const Use& use : graph_.value(v).uses) {
      const Kernel* kernel = kernel_of(use.node);
      if (!kernel || use.input >= 64 || kernel->traits().values) return false;
      if (!((kernel->traits().strided_inputs >> use.input) & 1)) return false;
      spaces.push_back(space_of(placement_.provider(use.node)));
    }
  }
  const int home = home_of(node.inputs[size_t(node.op->view_of)]);
  return std::all_of(spaces.begin(), spaces.end(), [&](int space) { return space == home; });
}

Result<std::unique_ptr<Kernel>> ProgramBuilder::compile(NodeId n, Provider* provider) {
  const Node& node = graph_.node(n);
  std::vector<Layout> in, out;
  for (ValueId v : node.inputs) in.push_back(v == kNoValue ? Layout() : placement_.layout(v));
  for (ValueId v : node.outputs) out.push_back(v == kNoValue ? Layout() : placement_.layout(v));
  if (node.op->domain == "sx" && node.op->name == "Reorder") {
    const DType type = graph_.value(node.inputs[0]).type.elem;
    return provider->compile_reorder(type, in[0], out[0]);
  }
  CompileContext context{graph_, n, in, out, *machine_.weights, *machine_.parallel};
  return provider->compile(context);
}

bool ProgramBuilder::may_wait(NodeId n, const Status& wrong) const {
  return wrong.code() == Code::invalid_model && body_ != kMainBody && space_of(placement_.provider(n)) == 0;
}

Provider* ProgramBuilder::provider_of(NodeId n) const {
  return waiting_.contains(n) ? machine_.placement->providers.back() : placement_.provider(n);
}

Status ProgramBuilder::compile_kernels() {
  const auto& nodes = body().nodes;
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const Node& node = graph_.node(*it);
    if (skip(*it) || node.op->control_flow || may_alias(node)) continue;
    auto kernel = compile(*it, placement_.provider(*it));
    if (may_wait(*it, kernel.status())) {
      waiting_.insert(*it);
      kernel = compile(*it, provider_of(*it));
    }
    if (!kernel.ok()) return std::move(kernel).status().in(describe(graph_, *it));
    kernels_[*it] = std::move(kernel).value();
  }
  return {};
}

SlotId ProgramBuilder::input_slot(ValueId v) {
  if (v == kNoValue) {
    if (absent_ == kNoSlot) {
      Slot slot;
      slot.kind = Slot::Kind::absent;
      absent_ = add_slot(std::move(slot));
    }
    return absent_;
  }
  if (const SlotId known = slot_of(v); known != kNoSlot) return known;
  Slot slot = describe_slot(v);
  slot.kind = graph_.value(v).is_constant() ? Slot::Kind::constant : Slot::Kind::shape;
  slot.constant = graph_.value(v).constant;
  if (!is_done(v) && missing_.empty()) missing_ = graph_.value(v).name;
  slot.layout = {};
  return slot_of_[v] = add_slot(std::move(slot));
}

SlotId ProgramBuilder::output_slot(ValueId v, int space) {
  if (v == kNoValue) return input_slot(v);
  Slot slot = describe_slot(v);
  slot.space = space;
  if (slot.kind != Slot::Kind::value) {
    const bool early = slot.rank_known && only_known(slot.dims, start_);
    slot.kind = early ? Slot::Kind::planned : Slot::Kind::late;
  }
  return slot_of_[v] = add_slot(std::move(slot));
}

SlotId ProgramBuilder::in_space(SlotId s, int space) {
  const Slot& slot = program_->slots_[s];
  if (slot.space == space || slot.kind == Slot::Kind::absent) return s;
  const bool constant = slot.kind == Slot::Kind::constant && space != 0;  // copied once, below
  if (const auto it = mirrors_.find({s, space}); it != mirrors_.end()) return it->second;
  Slot copy = slot;
  copy.kind = slot.kind == Slot::Kind::late ? Slot::Kind::late : constant ? slot.kind : Slot::Kind::planned;
  copy.alias_of = kNoSlot;
  copy.view_node = kNoNode;
  copy.space = space;
  const int from = slot.space;
  const SlotId mirror = add_slot(std::move(copy));
  mirrors_[{s, space}] = mirror;
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

int ProgramBuilder::space_of(const Provider* provider) const {
  for (size_t i = 1; i < machine_.spaces.size(); ++i) {
    if (machine_.spaces[i] == provider) return int(i);
  }
  return 0;
}

Status ProgramBuilder::add_node(NodeId n) {
  const Node& node = graph_.node(n);
  if (node.op->control_flow) return add_control(n);
  if (!kernel_of(n) && may_alias(node)) return add_view(n);
  if (!kernel_of(n)) {
    SX_ASSIGN(kernels_[n], compile(n, placement_.provider(n)));
  }
  return add_kernel(n, provider_of(n));
}

bool ProgramBuilder::outputs_resolve(const Node& node) const {
  for (ValueId v : node.outputs) {
    if (v == kNoValue) continue;
    const Type& type = graph_.value(v).type;
    if (!numeric(type) || !type.shape.known || !only_known(type.shape.dims, now_)) return false;
  }
  return true;
}

bool ProgramBuilder::has_late_or_value(const Step& step) const {
  auto late = [&](SlotId s) {
    const Slot::Kind kind = program_->slots_[s].kind;
    const SlotId root = program_->slots_[s].alias_of;
    return kind == Slot::Kind::late || kind == Slot::Kind::value ||
           (root != kNoSlot && program_->slots_[root].kind == Slot::Kind::late);
  };
  return std::any_of(step.in.begin(), step.in.end(), late) ||
         std::any_of(step.out.begin(), step.out.end(), late);
}

bool ProgramBuilder::inputs_are_ranked(const Node& node) const {
  for (ValueId v : node.inputs) {
    if (v != kNoValue && (!numeric(graph_.value(v).type) || !graph_.value(v).type.shape.known)) return false;
  }
  return true;
}

Status ProgramBuilder::add_kernel(NodeId n, Provider* provider) {
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

bool ProgramBuilder::touches_late(const Node& node) const {
  for (ValueId v : node.inputs) {
    const SlotId s = v == kNoValue ? kNoSlot : slot_of(v);
    if (s != kNoSlot && program_->slots_[s].kind == Slot::Kind::late) return true;
  }
  for (ValueId v : node.outputs) {
    if (v != kNoValue && !only_known(graph_.value(v).type.shape.dims, start_)) return true;
  }
  return false;
}

void ProgramBuilder::learn_symbols(const Node& node) {
  for (ValueId v : node.outputs) {
    if (v == kNoValue || !graph_.value(v).type.is_tensor()) continue;
    for (Dim d : graph_.value(v).type.shape.dims) {
      if (const int64_t s = pure_symbol(d); s >= 0) now_[size_t(s)] = true;
    }
  }
}

Status ProgramBuilder::add_view(NodeId n) {
  const Node& node = graph_.node(n);
  const SlotId from = input_slot(node.inputs[size_t(node.op->view_of)]);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId v = node.outputs[i];
    if (v == kNoValue || !needed_.contains(v) || is_done(v)) continue;
    const Slot source = program_->slots_[from];
    const bool resolved = outputs_resolve(node) && source.kind != Slot::Kind::value;
    if (!resolved) {  // unknown rank or not a tensor: the record itself runs it
      SX_ASSIGN(kernels_[n], compile(n, machine_.placement->providers.back()));
      return add_kernel(n, machine_.placement->providers.back());
    }
    const SlotId s = output_slot(v, source.space);
    Slot& slot = program_->slots_[s];
    slot.alias_of = from;
    slot.root = source.root;
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

// A view of something late is late itself.
bool ProgramBuilder::is_late(SlotId s) const { return program_->slots_[s].kind == Slot::Kind::late; }

Status ProgramBuilder::add_control(NodeId n) {
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

}  // namespace sx
