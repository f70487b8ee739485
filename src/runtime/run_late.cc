// SPDX-License-Identifier: Apache-2.0
// Steps whose dims are known only during the run, steps over values that are not numeric, and control flow.
#include <algorithm>

#include "base/format.h"
#include "base/task.h"
#include "graph/evaluate.h"
#include "graph/infer_graph.h"
#include "graph/op.h"
#include "runtime/copy_view.h"
#include "runtime/plan.h"
#include "runtime/size_check.h"
#include "runtime/symbols.h"

namespace sx {

Status make_late_view(const Graph& graph, const Slot& slot, std::span<const int64_t> symbols,
                      const View& from, View& to, int64_t& offset);

namespace {

// Sizes that a run just learnt bind the symbols that stand for them; what is already known must agree.
Status learn_dims(const Slot& slot, const Dims& dims, const std::string& name,
                  std::vector<int64_t>& symbols) {
  if (!slot.rank_known) return {};
  if (slot.dims.size() != dims.size()) {
    return error(Code::internal, "'{}' was inferred to have rank {} and has shape {}", name, slot.dims.size(),
                 to_string(dims));
  }
  for (size_t k = 0; k < dims.size(); ++k) {
    const int64_t s = pure_symbol(slot.dims[k]);
    int64_t expected = dims[k];
    if (s >= 0 && symbols[size_t(s)] < 0)
      symbols[size_t(s)] = dims[k];
    else if (evaluate(slot.dims[k], symbols, expected) && expected != dims[k]) {
      return error(Code::invalid_argument, "axis {} of '{}' is {}, expected {}", k, name, dims[k],
                   slot.dims[k].is_constant() ? std::to_string(expected)
                                              : format("{} = {}", to_string(slot.dims[k]), expected));
    }
  }
  return {};
}

// Dims and strides of all operands, one after the other.
template <class Visit>
void each_extent(ViewList in, ViewList out, Visit visit) {
  for (const ViewList& list : {in, out}) {
    for (const View* v : list) {
      visit(v->dims);
      visit(v->strides);
    }
  }
}

bool same_extents(const std::vector<Dims>& known, ViewList in, ViewList out) {
  if (known.size() != 2 * (in.size() + out.size())) return false;
  bool same = true;
  size_t at = 0;
  each_extent(in, out, [&](const Dims& d) { same = same && known[at++] == d; });
  return same;
}

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

Status size_late(const Slot& slot, std::span<const int64_t> symbols, View& view) {
  view.type = slot.type;
  view.layout = slot.layout;
  view.dims.resize(slot.dims.size());
  for (size_t k = 0; k < slot.dims.size(); ++k) {
    if (!evaluate(slot.dims[k], symbols, view.dims[k]) || view.dims[k] < 0) {
      return error(Code::invalid_argument, "the size {} does not work out for these inputs: {}",
                   to_string(slot.dims[k]), why_no_size(slot.dims[k], symbols));
    }
  }
  return {};
}

}  // namespace

// Memory for a value whose sizes were just learnt.
Result<Block> Program::take_for(const View& view) {
  int64_t count = 0;
  size_t bytes = 0;
  const bool sized = element_count(view.dims, count) && dtype_bytes(view.type, uint64_t(count), bytes);
  if (sized) bytes = bytes_of(view);
  if (sized && bytes <= memory_limit()) {
    auto block = machine_->pools[0]->take(bytes);
    if (block.ok() || block.status().code() != Code::out_of_memory) return block;
  }
  return memory_refused(sized ? bytes : SIZE_MAX,
                        format("{}{}", dtype_name(view.type), to_string(view.dims)));
}

Status Program::resolve_late(Frame& frame, size_t index) {
  Step& step = steps_[index];
  const ViewList in = frame.in[index], out = frame.out[index];
  for (SlotId s : step.out) {
    if (slots_[s].kind == Slot::Kind::late) SX_TRY(size_late(slots_[s], frame.symbols, frame.views[s]));
  }
  const bool seen = same_extents(frame.late_dims[index], in, out);
  if (!seen) SX_TRY(SizeCheck(*machine_->graph, frame.symbols).agree(step.node, in, out));
  for (SlotId s : step.out) {
    if (slots_[s].kind != Slot::Kind::late) continue;
    machine_->pools[0]->give(std::exchange(frame.blocks[s], {}));
    SX_ASSIGN(frame.blocks[s], take_for(frame.views[s]));
    frame.views[s].data = frame.blocks[s].data;
  }
  PlannedStep& late = frame.late_steps[index];
  if (!seen) {
    frame.late_dims[index].clear();
    SX_TRY(prepare_step(step, in, out, late));
    late.worker_stride = aligned(late.needs.scratch_per_worker);
    late.worker_scratch = int64_t(aligned(late.needs.scratch));
    each_extent(in, out, [&](const Dims& d) { frame.late_dims[index].push_back(d); });
  }
  const size_t bytes = size_t(late.worker_scratch) + late.worker_stride * machine_->parallel->width();
  if (bytes > 0) {
    SX_ASSIGN(frame.scratch[index], machine_->pools[0]->take(bytes));
  }
  return {};
}

Status Program::run_view(Frame& frame, size_t index) {
  const Step& step = steps_[index];
  const Slot& slot = slots_[step.out[0]];
  const View& from = frame.views[step.in[0]];
  View& to = frame.views[step.out[0]];
  SX_TRY(size_late(slot, frame.symbols, to));
  const Node& node = machine_->graph->node(step.node);
  std::vector<const View*> in(node.inputs.size()), out(node.outputs.size());
  in[size_t(node.op->view_of)] = &from;
  out[slot.view_output] = &to;
  SX_TRY(SizeCheck(*machine_->graph, frame.symbols).agree(step.node, in, out));
  int64_t offset = 0;
  SX_TRY(make_late_view(*machine_->graph, slot, frame.symbols, from, to, offset));
  to.data = static_cast<char*>(from.data) + offset;
  return {};
}

namespace {

// `kept`: results may go on pointing into the value, so it must not lie in memory that the run gives back.
Result<Value> value_of(const Frame& frame, SlotId s, bool kept = false) {
  const View& view = frame.views[s];
  if (view.defined() && view.type != DType::string && frame.values[s].kind == Value::Kind::none) {
    if (kept && view.contiguous()) {
      SX_ASSIGN(Tensor own, Tensor::allocate(view.type, view.dims));
      copy_view(view, view_of_mutable(own));
      return Value(std::move(own));
    }
    SX_ASSIGN(Tensor t, tensor_from_view(view));
    return Value(std::move(t));
  }
  return frame.values[s];
}

}  // namespace

// A result of a record: planned slots get a copy, the others keep the value itself.
static Status keep_value(Frame& frame, const Slot& slot, SlotId s, Value v, const std::string& name) {
  if (slot.kind == Slot::Kind::absent) return {};
  View& view = frame.views[s];
  if (v.is_tensor() && v.tensor.type() != DType::string) {
    SX_TRY(learn_dims(slot, v.tensor.dims(), name, frame.symbols));
    if (slot.kind == Slot::Kind::planned) {
      if (v.tensor.type() != view.type || !(v.tensor.dims() == view.dims)) {
        return error(Code::internal, "'{}' was planned as {}{} and came out as {}{}", name,
                     dtype_name(view.type), to_string(view.dims), dtype_name(v.tensor.type()),
                     to_string(v.tensor.dims()));
      }
      copy_view(view_of(v.tensor), view);
      return {};
    }
    view = view_of(v.tensor);
  } else if (v.is_tensor()) {
    SX_TRY(learn_dims(slot, v.tensor.dims(), name, frame.symbols));
  }
  frame.values[s] = std::move(v);
  return {};
}

Status Program::run_values(Frame& frame, const RunRequest& request, size_t index, Kernel& kernel) {
  Step& step = steps_[index];
  std::vector<Value> in(step.in.size()), out(step.out.size());
  const bool kept = std::any_of(step.out.begin(), step.out.end(), [&](SlotId s) {
    const Slot& slot = slots_[s];  // texts never lie in the memory of numbers
    return slot.kind == Slot::Kind::late || (slot.kind == Slot::Kind::value && slot.type != DType::string);
  });
  for (size_t i = 0; i < in.size(); ++i) {
    if (slots_[step.in[i]].kind == Slot::Kind::absent) continue;
    SX_ASSIGN(in[i], value_of(frame, step.in[i], kept));
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (slots_[step.out[i]].kind != Slot::Kind::planned || !frame.views[step.out[i]].contiguous()) continue;
    SX_ASSIGN(Tensor place, tensor_from_view(frame.views[step.out[i]]));
    out[i] = Value(std::move(place));
  }
  RunContext context{*machine_->parallel, request.cancel, nullptr, nullptr, 0, nullptr};
  SX_TRY(kernel.run_values(in, out, context));
  SX_TRY(check_memory());
  for (size_t i = 0; i < out.size(); ++i) {
    const Slot& slot = slots_[step.out[i]];
    const std::string& name = slot.value == kNoValue ? step.label : machine_->graph->value(slot.value).name;
    SX_TRY(keep_value(frame, slot, step.out[i], std::move(out[i]), name));
  }
  return {};
}

// If: the taken branch is a program of its own that writes into our slots.
Status Program::run_branch(Frame& frame, const RunRequest& request, size_t index) {
  Step& step = steps_[index];
  const View& condition = *frame.in[index][0];
  if (!condition.data || condition.count() != 1) {
    return error(Code::invalid_argument, "the condition must be one boolean, it has shape {}",
                 to_string(condition.dims));
  }
  const size_t taken = *condition.as<uint8_t>() ? 0 : 1;
  Program& child = *step.children[taken];
  // Inference lets an If pass that stands in a branch itself: it may never run.
  const char* name = taken == 0 ? "then_branch" : "else_branch";
  if (child.inputs().size() != child.captured().size()) {
    return error(Code::invalid_model, "{} has {} inputs, a branch has none", name,
                 child.inputs().size() - child.captured().size());
  }
  if (child.outputs().size() < step.out.size()) {
    return error(Code::invalid_model, "{} has {} outputs, {} expected", name, child.outputs().size(),
                 step.out.size());
  }
  const size_t first = 1 + (taken == 1 ? step.children[0]->captured().size() : 0);
  auto& in = frame.child_in;
  auto& out = frame.child_out;
  in.resize(child.inputs().size());
  out.resize(child.outputs().size());
  for (size_t i = 0; i < in.size(); ++i) {
    const SlotId s = step.in[first + i];
    in[i].view = frame.views[s];
    in[i].value = slots_[s].kind == Slot::Kind::value || frame.views[s].type == DType::string ||
                          slots_[s].kind == Slot::Kind::input
                      ? frame.values[s]
                      : Value();
    if (in[i].view.data && !in[i].view.contiguous()) {
      SX_ASSIGN(Tensor packed, tensor_from_view(in[i].view));
      in[i].view = view_of(packed);
      in[i].value = Value(std::move(packed));
    }
  }
  for (Binding& b : out) b = Binding();
  for (size_t i = 0; i < step.out.size(); ++i) {
    const SlotId s = step.out[i];
    if (slots_[s].kind == Slot::Kind::planned) out[i].view = frame.views[s];
  }
  SX_TRY(child.run({in, out, request.cancel, frame.symbols, request.failed}));
  for (size_t i = step.out.size(); i < out.size(); ++i)
    machine_->pools[0]->give(std::exchange(out[i].block, {}));
  for (size_t i = 0; i < step.out.size(); ++i) {
    const SlotId s = step.out[i];
    const Slot& slot = slots_[s];
    if (slot.kind == Slot::Kind::planned || slot.kind == Slot::Kind::absent) continue;
    if (out[i].view.defined()) {
      SX_TRY(learn_dims(slot, out[i].view.dims, machine_->graph->value(slot.value).name, frame.symbols));
      frame.views[s] = out[i].view;
      machine_->pools[0]->give(std::exchange(frame.blocks[s], out[i].block));
    } else {
      SX_TRY(keep_value(frame, slot, s, std::move(out[i].value), machine_->graph->value(slot.value).name));
    }
  }
  return {};
}

// One turn of a body. `captured`: slots of ours that the body reads, after its own inputs.
Result<std::vector<Value>> Program::run_child(Frame& frame, const RunRequest& request, Program& child,
                                              std::span<const Value> inputs,
                                              std::span<const SlotId> captured) {
  auto& in = frame.child_in;
  auto& out = frame.child_out;
  in.resize(child.inputs().size());
  out.resize(child.outputs().size());
  if (in.size() != inputs.size() + captured.size())
    return error(Code::internal, "a body takes {} values, it is given {}", in.size(),
                 inputs.size() + captured.size());
  for (size_t i = 0; i < in.size(); ++i) {
    if (i < inputs.size()) {
      in[i].value = inputs[i];
    } else {
      const SlotId s = captured[i - inputs.size()];
      in[i].view = frame.views[s];
      in[i].value = Value();
      if (in[i].view.defined() && in[i].view.type != DType::string && in[i].view.contiguous()) continue;
      SX_ASSIGN(in[i].value, value_of(frame, s));
    }
    const Value& v = in[i].value;
    in[i].view = v.is_tensor() && v.tensor.type() != DType::string ? view_of(v.tensor) : View();
  }
  for (Binding& b : out) b = Binding();
  SX_TRY(child.run({in, out, request.cancel, frame.symbols, request.failed}));
  std::vector<Value> results(out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    if (!out[i].view.defined()) {
      results[i] = std::move(out[i].value);
      continue;
    }
    auto t = Tensor::allocate(out[i].view.type, out[i].view.dims);
    if (t.ok()) copy_view(out[i].view, view_of_mutable(*t));
    machine_->pools[0]->give(std::exchange(out[i].block, {}));
    if (!t.ok()) return std::move(t).status();
    results[i] = Value(std::move(t).value());
  }
  return results;
}

// A size as a number, if all its symbols are known by now.
static Dim as_far_as_known(Dim d, std::span<const int64_t> symbols) {
  bool known = true;
  each_symbol(d, [&](uint32_t s) { known = known && s < symbols.size() && symbols[s] >= 0; });
  int64_t v = 0;
  return known && evaluate(d, symbols, v) ? Dim(v) : d;
}

// The sizes of a value that a step or its bodies read, if it is a tensor by now.
const Dims* Program::dims_of_input(const Frame& frame, const Step& step, ValueId value) const {
  for (SlotId s : step.in) {
    if (slots_[s].kind == Slot::Kind::absent || slots_[s].value != value) continue;
    if (frame.views[s].defined()) return &frame.views[s].dims;
    if (frame.values[s].is_tensor()) return &frame.values[s].tensor.dims();
  }
  return nullptr;
}

// Loop, Scan and the like: the record drives, the bodies run as programs.
Status Program::run_control(Frame& frame, const RunRequest& request, size_t index) {
  Step& step = steps_[index];
  const Node& node = machine_->graph->node(step.node);
  std::vector<Value> in(node.inputs.size());
  for (size_t i = 0; i < in.size(); ++i) {
    if (slots_[step.in[i]].kind == Slot::Kind::absent) continue;
    SX_ASSIGN(in[i], value_of(frame, step.in[i], true));
  }
  std::vector<BodyId> bodies;
  for (const Attr& a : node.attrs.list()) {
    if (auto* ref = std::get_if<BodyRef>(&a.value)) bodies.push_back(ref->id);
  }
  auto run_body = [&](BodyId body, std::span<const Value> inputs) -> Result<std::vector<Value>> {
    const size_t which = size_t(std::find(bodies.begin(), bodies.end(), body) - bodies.begin());
    if (which >= step.children.size()) return Status(Code::internal, "a body that was not compiled");
    size_t first = node.inputs.size();
    for (size_t k = 0; k < which; ++k) first += step.children[k]->captured().size();
    Program& child = *step.children[which];
    return run_child(frame, request, child, inputs,
                     std::span(step.in).subspan(first, child.captured().size()));
  };
  std::unique_ptr<bool[]> wanted(new bool[node.outputs.size() + 1]);
  for (size_t i = 0; i < node.outputs.size(); ++i) wanted[i] = node.outputs[i] != kNoValue;
  EvaluateOptions options;
  options.cancel = request.cancel;
  std::vector<Type> types;
  for (ValueId v : node.outputs) {
    types.push_back(v == kNoValue ? Type() : machine_->graph->value(v).type);
    for (Dim& d : types.back().shape.dims) d = as_far_as_known(d, frame.symbols);
  }
  auto infer_outputs = [&] {
    return infer_given(*machine_->graph, step.node, [&](ValueId v) { return dims_of_input(frame, step, v); });
  };
  SX_ASSIGN(std::vector<Value> out, evaluate_op(*node.op, node.attrs, in, {wanted.get(), node.outputs.size()},
                                                options, {run_body, types, infer_outputs}));
  for (size_t i = 0; i < out.size() && i < step.out.size(); ++i) {
    const Slot& slot = slots_[step.out[i]];
    if (slot.kind == Slot::Kind::absent) continue;
    SX_TRY(keep_value(frame, slot, step.out[i], std::move(out[i]), machine_->graph->value(slot.value).name));
  }
  return {};
}

}  // namespace sx
