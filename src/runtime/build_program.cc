// SPDX-License-Identifier: Apache-2.0
// From a placed graph to a program: which values need a step at all, what comes in and what goes out.
#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "runtime/program_builder.h"
#include "runtime/symbols.h"
#include "runtime/weights.h"

namespace sx {

Result<std::unique_ptr<Program>> ProgramBuilder::build() {
  find_captured();
  add_inputs();
  now_ = start_;
  find_needed();
  SX_TRY(compile_kernels());
  for (NodeId n : graph_.body(body_).nodes) {
    if (!skip(n)) SX_TRY(add_node(n).in(describe(graph_, n)));
  }
  SX_TRY(add_outputs());
  if (!missing_.empty())
    return error(Code::internal, "value '{}' is read, but no step of the program makes it", missing_);
  SX_TRY(align_constants());
  SX_TRY(upload_constants());
  find_lifetimes();
  find_outer_symbols();
  program_->times_.resize(program_->steps_.size());
  return std::move(program_);
}

void ProgramBuilder::walk_bodies(BodyId b, std::vector<BodyId>& all) const {
  all.push_back(b);
  for (NodeId n : graph_.body(b).nodes) {
    for (const Attr& a : graph_.node(n).attrs.list()) {
      if (auto* ref = std::get_if<BodyRef>(&a.value)) walk_bodies(ref->id, all);
      if (auto* refs = std::get_if<std::vector<BodyRef>>(&a.value)) {
        for (const BodyRef& r : *refs) walk_bodies(r.id, all);
      }
    }
  }
}

void ProgramBuilder::each_read(const std::vector<BodyId>& bodies, FunctionRef<void(ValueId)> visit) const {
  for (BodyId b : bodies) {
    for (NodeId n : graph_.body(b).nodes) {
      for (ValueId v : graph_.node(n).inputs) visit(v);
    }
    for (ValueId v : graph_.body(b).outputs) visit(v);
  }
}

void ProgramBuilder::find_captured() {
  if (body_ == kMainBody) return;
  std::vector<BodyId> all;
  walk_bodies(body_, all);
  const std::unordered_set<BodyId> inside(all.begin(), all.end());
  std::unordered_set<ValueId> seen;
  auto look = [&](ValueId v) {
    if (v == kNoValue || inside.contains(graph_.value(v).body) || graph_.value(v).is_constant()) return;
    if (seen.insert(v).second) program_->captured_.push_back(v);
  };
  each_read(all, look);
}

void ProgramBuilder::add_input(ValueId v) {
  Slot slot = describe_slot(v);
  slot.kind = Slot::Kind::input;
  for (Dim d : slot.dims) {
    if (const int64_t s = pure_symbol(d); s >= 0) start_[size_t(s)] = true;
  }
  slot_of_[v] = add_slot(std::move(slot));
  program_->inputs_.push_back(slot_of_[v]);
}

void ProgramBuilder::add_inputs() {
  for (ValueId v : body().inputs) add_input(v);
  for (ValueId v : program_->captured_) add_input(v);
}

bool ProgramBuilder::follows_from_dims(ValueId v) const {
  const ValueInfo& info = graph_.value(v);
  if (info.is_constant() || !info.has_elements || !info.type.is_tensor() || !dtype_is_integer(info.type.elem))
    return false;
  return info.type.shape.is_constant() && only_known(info.elements, start_);
}

bool ProgramBuilder::is_done(ValueId v) const {
  return v == kNoValue || graph_.value(v).is_constant() || follows_from_dims(v);
}

void ProgramBuilder::need(ValueId v) {
  if (v != kNoValue) needed_.insert(v);
}

void ProgramBuilder::find_needed() {
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

bool ProgramBuilder::sized_at_start(const Node& node) const {
  for (ValueId v : node.outputs) {
    if (v == kNoValue) continue;
    const Type& type = graph_.value(v).type;
    if (!type.is_tensor() || !type.shape.known || !only_known(type.shape.dims, start_)) return false;
  }
  return true;
}

void ProgramBuilder::need_captured_by(NodeId n) {
  std::vector<BodyId> all;
  for (const Attr& a : graph_.node(n).attrs.list()) {
    if (auto* ref = std::get_if<BodyRef>(&a.value)) walk_bodies(ref->id, all);
  }
  each_read(all, [&](ValueId v) { need(v); });
}

bool ProgramBuilder::skip(NodeId n) const {
  const Node& node = graph_.node(n);
  for (ValueId v : node.outputs) {
    if (v != kNoValue && needed_.contains(v) && !is_done(v)) return false;
  }
  return true;
}

bool ProgramBuilder::can_write_output(SlotId root, SlotId output) const {
  const Slot& slot = program_->slots_[root];
  if (slot.kind != Slot::Kind::planned || slot.space != 0 || !slot.layout.plain()) return false;
  if (written_outputs_.contains(root)) return false;
  // The output may be a view of the root, but only one that covers it in order.
  for (SlotId s = output; s != root; s = program_->slots_[s].alias_of) {
    if (!graph_.node(program_->slots_[s].view_node).op->view_keeps_order) return false;
  }
  return true;
}

Status ProgramBuilder::add_outputs() {
  for (ValueId v : body().outputs) {
    SlotId s = in_space(input_slot(v), 0);
    const SlotId root = program_->slots_[s].root;
    const bool writes = can_write_output(root, s);
    if (writes) written_outputs_.insert(root);
    program_->output_writer_.push_back(writes ? root : kNoSlot);
    program_->outputs_.push_back(s);
  }
  return {};
}

// Kernels that packed a weight, or read it as bytes, leave it in the file.
Status ProgramBuilder::align_constants() {
  const auto align = [this](SlotId s) -> Status {
    Slot& slot = program_->slots_[program_->slots_[s].root];
    Tensor& t = slot.constant.tensor;
    if (slot.kind != Slot::Kind::constant || slot.space != 0 || !slot.constant.is_tensor() || t.aligned())
      return {};
    const auto fill = [&t](const void* from, void* to) {
      std::memcpy(to, from, t.bytes());
      return Status();
    };
    SX_ASSIGN(auto copy, machine_.weights->pack(t, "aligned", t.bytes(), *machine_.parallel, fill));
    SX_ASSIGN(t, Tensor::over(Buffer::wrap(copy->data(), t.bytes(), copy), 0, t.type(), t.dims()));
    return {};
  };
  for (const Step& step : program_->steps_) {
    if (step.kind == Step::Kind::view) continue;
    const KernelTraits* traits = step.kernel ? &step.kernel->traits() : nullptr;
    const uint64_t not_as_numbers = traits ? traits->unused_inputs | traits->any_address : 0;
    for (size_t i = 0; i < step.in.size(); ++i) {
      const bool reads = i >= 64 || !(not_as_numbers >> i & 1);
      if (reads) SX_TRY(align(step.in[i]).in(step.label));
    }
  }
  for (SlotId s : program_->outputs_) SX_TRY(align(s));
  return {};
}

Status ProgramBuilder::upload_constants() {
  for (Slot& slot : program_->slots_) {
    if (slot.kind != Slot::Kind::constant || slot.space == 0) continue;
    const Tensor& tensor = slot.constant.tensor;
    MemorySpace* memory = machine_.spaces[size_t(slot.space)]->memory();
    SX_ASSIGN(slot.device, memory->allocate(tensor.bytes() + kAlignment));
    SX_TRY(memory->copy_in(slot.device, tensor.data(), tensor.bytes()).in(graph_.value(slot.value).name));
  }
  return {};
}

void ProgramBuilder::find_lifetimes() {
  auto& slots = program_->slots_;
  auto& steps = program_->steps_;
  auto touch = [&](SlotId s, int step) {
    if (slots[s].first < 0) slots[s].first = step;
    slots[s].last = std::max(slots[s].last, step);
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    for (SlotId s : steps[i].in) touch(s, int(i));
    for (SlotId s : steps[i].out) touch(s, int(i));
  }
  for (SlotId s : program_->outputs_) touch(s, int(steps.size()));
  for (SlotId s = SlotId(slots.size()); s-- > 0;) {  // a view comes after what it looks at
    if (slots[s].alias_of == kNoSlot || slots[s].first < 0) continue;
    Slot& seen = slots[slots[s].alias_of];
    seen.first = seen.first < 0 ? slots[s].first : std::min(seen.first, slots[s].first);
    seen.last = std::max(seen.last, slots[s].last);
  }
  for (SlotId s = 0; s < slots.size(); ++s) {
    const bool held = slots[s].kind == Slot::Kind::late || slots[s].kind == Slot::Kind::value;
    if (held && slots[s].last >= 0 && size_t(slots[s].last) < steps.size())
      steps[size_t(slots[s].last)].release.push_back(s);
  }
}

void ProgramBuilder::find_outer_symbols() {
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

Result<std::unique_ptr<Program>> Program::build(Machine& machine, BodyId body,
                                                const std::vector<bool>& known) {
  return ProgramBuilder(machine, body, known).build();
}

}  // namespace sx
