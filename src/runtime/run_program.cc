// SPDX-License-Identifier: Apache-2.0
// Running a program: find the plan, take a frame, walk the steps, hand over the outputs.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/contained.h"
#include "base/format.h"
#include "base/task.h"
#include "runtime/copy_view.h"
#include "runtime/plan.h"

namespace sx {
namespace {

void append_dims(std::vector<int64_t>& key, const Binding& b) {
  const Dims& dims = b.value.is_tensor() ? b.value.tensor.dims() : b.view.dims;
  key.push_back(int64_t(dims.size()));
  key.insert(key.end(), dims.begin(), dims.end());
}

// Compares without building a key, so that a warm run allocates nothing.
bool key_matches(const std::vector<int64_t>& key, const RunRequest& request,
                 const std::vector<uint32_t>& outer) {
  size_t at = 0;
  for (const Binding& b : request.inputs) {
    const Dims& dims = b.value.is_tensor() ? b.value.tensor.dims() : b.view.dims;
    if (at >= key.size() || key[at++] != int64_t(dims.size()) || at + dims.size() > key.size()) return false;
    for (int64_t d : dims) {
      if (key[at++] != d) return false;
    }
  }
  for (uint32_t s : outer) {
    if (at >= key.size() || key[at++] != (s < request.symbols.size() ? request.symbols[s] : -1)) return false;
  }
  return at == key.size();
}

uint64_t now_ns() {
  return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::steady_clock::now().time_since_epoch())
                      .count());
}

}  // namespace

Program::~Program() {
  for (const Slot& slot : slots_) {
    if (slot.device) machine_->spaces[size_t(slot.space)]->memory()->release(slot.device);
  }
}

void blame(Provider* provider, const Status& status, Provider** failed) {
  const bool own_memory = provider && provider->memory();
  const bool callers = status.code() == Code::invalid_argument || status.code() == Code::cancelled ||
                       status.code() == Code::deadline ||
                       (status.code() == Code::out_of_memory && !own_memory);
  if (failed && !*failed && !callers) *failed = provider;
}

Status scratch_fits(const Needs& needs, size_t workers) {
  const size_t limit = memory_limit(), each = needs.scratch_per_worker;
  if (needs.scratch <= limit && each <= (limit - needs.scratch) / std::max<size_t>(workers, 1)) return {};
  return memory_refused(std::max(needs.scratch, each), "scratch memory");
}

std::shared_ptr<Plan> Program::known_plan(const RunRequest& request) {
  const std::shared_ptr<const Plans> plans = plans_.get();
  for (auto it = plans->rbegin(); it != plans->rend(); ++it) {
    if (!key_matches((*it)->key, request, outer_symbols_)) continue;
    (*it)->last_used.store(clock_.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
    return *it;
  }
  return nullptr;
}

Result<std::shared_ptr<Plan>> Program::find_plan(const RunRequest& request) {
  if (std::shared_ptr<Plan> known = known_plan(request)) return known;
  SX_ASSIGN(std::shared_ptr<Plan> plan, make_plan(request));
  if (stop_requested()) SX_TRY(check_stop());  // it may be half done
  for (const Binding& b : request.inputs) append_dims(plan->key, b);
  for (uint32_t s : outer_symbols_) plan->key.push_back(s < request.symbols.size() ? request.symbols[s] : -1);
  std::lock_guard lock(mutex_);
  if (std::shared_ptr<Plan> known = known_plan(request)) return known;  // made by another thread meanwhile
  Plans next = *plans_.get();
  if (next.size() >= std::max<size_t>(machine_->most_plans, 1)) {
    next.erase(std::min_element(next.begin(), next.end(), [](const auto& a, const auto& b) {
      return a->last_used.load(std::memory_order_relaxed) < b->last_used.load(std::memory_order_relaxed);
    }));
  }
  plan->last_used = clock_.fetch_add(1, std::memory_order_relaxed);
  next.push_back(plan);
  plans_.set(std::move(next));
  return plan;
}

size_t Program::plans() const { return plans_.get()->size(); }

void Program::clear_times() {
  std::lock_guard lock(mutex_);
  std::fill(times_.begin(), times_.end(), StepTime());
  for (Step& step : steps_) {
    for (auto& child : step.children) child->clear_times();
  }
}

namespace {

// The frame of one run: taken from the plan, with arenas from the pools; given back however the run ends.
struct FrameLease {
  const Program& program;
  Machine& machine;
  std::shared_ptr<Plan> plan;
  std::unique_ptr<Frame> frame;

  ~FrameLease() {
    for (size_t s = 0; s < frame->blocks.size(); ++s)
      machine.pools[0]->give(std::exchange(frame->blocks[s], {}));
    for (size_t i = 0; i < frame->arenas.size(); ++i)
      machine.pools[i]->give(std::exchange(frame->arenas[i], {}));
    // What came in and what goes out is the caller's: a frame that waits holds nothing of it.
    for (const auto* list : {&program.inputs(), &program.outputs()}) {
      for (SlotId s : *list) {
        if (program.slots()[s].kind != Slot::Kind::constant) frame->values[s] = Value();
      }
    }
    plan->frames.give(std::move(frame));
  }
  Status take_arenas(Provider** failed) {
    for (size_t i = 0; i < machine.pools.size(); ++i) {
      if (plan->arena_bytes[i] == 0) continue;
      auto block = machine.pools[i]->take(plan->arena_bytes[i]);
      if (!block.ok()) {
        if (i != 0) blame(machine.spaces[i], block.status(), failed);
        return std::move(block).status().in(largest_in_arena(i));
      }
      frame->arenas[i] = *block;
      if (std::exchange(frame->arena_was[i], block->data) == block->data) continue;
      for (SlotId s = 0; s < frame->views.size(); ++s) {
        const Address& a = plan->addresses[s];
        if (a.base == Address::Base::arena && a.index == i)
          frame->views[s].data = static_cast<char*>(block->data) + a.offset;
      }
    }
    return {};
  }
  // Who is to blame for an arena that cannot be had.
  std::string largest_in_arena(size_t space) const {
    size_t most = 0;
    NodeId node = kNoNode;
    for (SlotId s = 0; s < plan->views.size(); ++s) {
      const Slot& slot = program.slots()[s];
      const bool here = plan->addresses[s].base == Address::Base::arena && plan->addresses[s].index == space;
      if (!here || slot.alias_of != kNoSlot || contiguous_bytes(plan->views[s]) <= most) continue;
      most = contiguous_bytes(plan->views[s]);
      node = machine.graph->value(slot.value).producer;
    }
    return node == kNoNode
               ? "values between nodes"
               : format("values between nodes, the largest from {}", describe(*machine.graph, node));
  }
};

}  // namespace

Status Program::run(const RunRequest& request) {
  SX_ASSIGN(std::shared_ptr<Plan> plan, find_plan(request));
  return run(request, std::move(plan));
}

Status Program::run(const RunRequest& request, std::shared_ptr<Plan> plan) {
  std::unique_ptr<Frame> frame = plan->frames.take();
  if (!frame) frame = std::make_unique<Frame>(*this, *plan);
  FrameLease lease{*this, *machine_, std::move(plan), std::move(frame)};
  SX_TRY(lease.take_arenas(request.failed));
  Status status = walk(*lease.frame, request);
  if (!status.ok()) {
    for (Binding& b : request.outputs) machine_->pools[0]->give(std::exchange(b.block, {}));
  }
  return status;
}

Status Program::walk(Frame& frame, const RunRequest& request) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Binding& b = request.inputs[i];
    const SlotId s = inputs_[i];
    if (b.value.kind != Value::Kind::none || frame.values[s].kind != Value::Kind::none)
      frame.values[s] = b.value;
    if (b.view.defined()) {
      frame.views[s].type = b.view.type;
      frame.bind(i, Address::Base::input, b.view.data);
    }
  }
  // Outputs that a kernel writes straight into: the caller's memory, or a block that the caller will get.
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (output_writer_[i] == kNoSlot) continue;
    Binding& b = request.outputs[i];
    const View& planned = frame.plan.views[outputs_[i]];
    if (!b.view.data) {
      SX_ASSIGN(b.block, machine_->pools[0]->take(contiguous_bytes(planned)));
      b.view = planned;
      b.view.data = b.block.data;
    } else if (b.view.type != planned.type || !(b.view.dims == planned.dims)) {
      return error(Code::invalid_argument, "output '{}' is {}{}, the memory bound to it is {}{}",
                   machine_->graph->value(slots_[outputs_[i]].value).name, dtype_name(planned.type),
                   to_string(planned.dims), dtype_name(b.view.type), to_string(b.view.dims));
    }
    frame.bind(i, Address::Base::output, b.view.data);
  }
  if (std::any_of(steps_.begin(), steps_.end(), [](const Step& s) { return s.late; }))
    frame.symbols = frame.plan.symbols;
  const bool profile = machine_->profile;
  // A step that was stopped may be half done: it is asked after each, so that the error names it.
  auto check_cancel = [&] { return request.cancel ? request.cancel->check() : Status(); };
  SX_TRY(check_cancel());
  for (size_t k = 0; k < steps_.size(); ++k) {
    const uint64_t start = profile ? now_ns() : 0;
    Status s = contained([&] { return run_step(frame, request, k); });
    if (s.ok()) s = check_cancel();
    if (!s.ok()) {
      blame(steps_[k].provider, s, request.failed);
      return steps_[k].node == kNoNode ? std::move(s)
                                       : std::move(s).in(describe(*machine_->graph, steps_[k].node));
    }
    if (profile) {
      std::lock_guard lock(mutex_);
      times_[k].ns += now_ns() - start;
      times_[k].runs += 1;
    }
    for (SlotId slot : steps_[k].release) {
      machine_->pools[0]->give(std::exchange(frame.blocks[slot], {}));
      if (slots_[slot].kind != Slot::Kind::input) frame.values[slot] = Value();
    }
  }
  SX_TRY(finish_outputs(frame, request));
  return stop_requested() ? check_stop() : Status();
}

Status Program::run_step(Frame& frame, const RunRequest& request, size_t index) {
  switch (steps_[index].kind) {
    case Step::Kind::kernel: return run_kernel(frame, request, index);
    case Step::Kind::values: return run_values(frame, request, index, *steps_[index].kernel);
    case Step::Kind::branch: return run_branch(frame, request, index);
    case Step::Kind::control: return run_control(frame, request, index);
    case Step::Kind::view: return run_view(frame, index);
    case Step::Kind::copy: return run_copy(frame, index);
    case Step::Kind::transfer: return run_transfer(frame, index);
  }
  return Status(Code::internal, "unknown step");
}

Status Program::run_kernel(Frame& frame, const RunRequest& request, size_t index) {
  Step& step = steps_[index];
  if (step.late) SX_TRY(resolve_late(frame, index));
  const PlannedStep& planned = step.late ? frame.late_steps[index] : frame.plan.steps[index];
  if (planned.nothing) return {};
  if (planned.instead) return run_values(frame, request, index, *planned.instead);
  RunContext context{*machine_->parallel, request.cancel, nullptr, nullptr, planned.worker_stride, nullptr};
  if (step.late) {
    char* base = static_cast<char*>(frame.scratch[index].data);
    context.scratch = base;
    context.worker_scratch = base ? base + planned.worker_scratch : nullptr;
  } else {
    char* base = static_cast<char*>(frame.arenas[0].data);
    if (planned.scratch >= 0) context.scratch = base + planned.scratch;
    if (planned.worker_scratch >= 0) context.worker_scratch = base + planned.worker_scratch;
  }
  Status s = step.kernel->run(planned.prepared.get(), frame.in[index], frame.out[index], context);
  if (step.late) machine_->pools[0]->give(std::exchange(frame.scratch[index], {}));
  return s;
}

Status Program::run_transfer(Frame& frame, size_t index) {
  const Step& step = steps_[index];
  const View& from = *frame.in[index][0];
  View& to = frame.views[step.out[0]];
  MemorySpace* memory = step.provider->memory();
  if (step.space != 0 && !from.contiguous())
    return error(Code::internal, "'{}' is a view with strides", step.label);
  if (step.space != 0) return memory->copy_out(to.data, from.data, contiguous_bytes(from));
  if (from.contiguous()) return memory->copy_in(to.data, from.data, contiguous_bytes(from));
  SX_ASSIGN(const Tensor packed, tensor_from_view(from));
  return memory->copy_in(to.data, packed.data(), packed.bytes());
}

Status Program::run_copy(Frame& frame, size_t index) {
  copy_view(*frame.in[index][0], *frame.out[index][0]);
  return {};
}

// Outputs that no kernel wrote in place: constants, inputs passed through, views, late values, everything not
// numeric.
Status Program::finish_outputs(Frame& frame, const RunRequest& request) {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (output_writer_[i] != kNoSlot) continue;
    const SlotId s = outputs_[i];
    Binding& b = request.outputs[i];
    const View& view = frame.views[s];
    if (!view.defined() || (view.type == DType::string)) {
      b.value = frame.values[s];
      b.view = {};
      continue;
    }
    if (!b.view.data) {
      SX_ASSIGN(b.block, machine_->pools[0]->take(contiguous_bytes(view)));
      b.view.type = view.type;
      b.view.dims = view.dims;
      b.view.layout = {};
      b.view.strides.clear();
      b.view.data = b.block.data;
    } else if (b.view.type != view.type || !(b.view.dims == view.dims)) {
      return error(Code::invalid_argument, "output '{}' is {}{}, the memory bound to it is {}{}",
                   machine_->graph->value(slots_[s].value).name, dtype_name(view.type), to_string(view.dims),
                   dtype_name(b.view.type), to_string(b.view.dims));
    }
    copy_view(view, b.view);
  }
  return {};
}

}  // namespace sx
