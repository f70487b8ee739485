// SPDX-License-Identifier: Apache-2.0
// Sizes, views and addresses for one set of dims.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/format.h"
#include "base/task.h"
#include "graph/op.h"
#include "runtime/arena.h"
#include "runtime/plan.h"
#include "runtime/size_check.h"
#include "runtime/symbols.h"

namespace sx {

namespace {

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void store_integer(DType type, void* to, size_t index, int64_t v) {
  switch (type) {
    case DType::i64:
    case DType::u64: static_cast<int64_t*>(to)[index] = v; break;
    case DType::i32:
    case DType::u32: static_cast<int32_t*>(to)[index] = int32_t(v); break;
    case DType::i16:
    case DType::u16: static_cast<int16_t*>(to)[index] = int16_t(v); break;
    default: static_cast<int8_t*>(to)[index] = int8_t(v); break;
  }
}

}  // namespace

// The work of make_plan, in the order of its functions.
struct Planner {
  const Program& program;
  const Machine& machine;
  const Graph& graph;
  Plan& plan;
  DimValues values;           // under the plan's symbols
  std::vector<int> piece_of;  // by slot: its piece of the arena, after in-place merges; -1: none
  std::vector<Piece> pieces;
  std::vector<int> piece_space;
  SizeCheck check;

  const std::vector<Slot>& slots() const { return program.slots_; }

  Status concrete(Dim d, int64_t& v, const char* what) {
    if (!values.value(d, v) || v < 0) {
      return error(Code::invalid_argument, "the size {} of {} does not work out for these inputs: {}",
                   to_string(d), what, why_no_size(d, plan.symbols));
    }
    return {};
  }

  bool early(const Slot& s) const {
    return s.kind != Slot::Kind::late && s.kind != Slot::Kind::value && s.kind != Slot::Kind::absent;
  }

  Status sizes() {
    plan.views.resize(slots().size());
    plan.addresses.resize(slots().size());
    for (SlotId i = 0; i < slots().size(); ++i) {
      const Slot& slot = slots()[i];
      View& view = plan.views[i];
      if (slot.kind == Slot::Kind::absent || slot.kind == Slot::Kind::value) continue;
      view.type = slot.type;
      view.layout = slot.layout;
      if (slot.kind == Slot::Kind::constant) {
        const Tensor& t = slot.constant.tensor;
        if (slot.constant.is_tensor() && t.type() != DType::string) view = view_of(t);
        if (slot.space != 0) view.data = slot.device;
        continue;
      }
      if (slot.kind == Slot::Kind::late || slot.kind == Slot::Kind::input) continue;
      view.dims.resize(slot.dims.size());
      for (size_t k = 0; k < slot.dims.size(); ++k) {
        SX_TRY(concrete(slot.dims[k], view.dims[k], graph.value(slot.value).name.c_str()));
      }
      int64_t count = 0;
      size_t bytes = 0;
      if (!element_count(view.dims, count) || !dtype_bytes(view.type, uint64_t(count), bytes)) {
        return error(Code::invalid_argument, "'{}' would be {}{}: too large", graph.value(slot.value).name,
                     dtype_name(view.type), to_string(view.dims))
            .in(describe(graph, graph.value(slot.value).producer));
      }
      if (program.bytes_of(view) < bytes) {
        return error(Code::internal, "'{}' is {}{}: layout {} has room for {} bytes, expected at least {}",
                     graph.value(slot.value).name, dtype_name(view.type), to_string(view.dims),
                     to_string(view.layout), program.bytes_of(view), bytes);
      }
      if (slot.alias_of == kNoSlot && program.bytes_of(view) > memory_limit()) {
        return memory_refused(program.bytes_of(view),
                              format("{}{}", dtype_name(view.type), to_string(view.dims)))
            .in(describe(graph, graph.value(slot.value).producer));
      }
    }
    return {};
  }

  Status guards() {
    for (const Guard& g : graph.guards()) {
      if (g.node != kNoNode && graph.node(g.node).body != program.body_) continue;
      int64_t a = 0, b = 0;
      if (!values.value(g.a, a) || !values.value(g.b, b)) continue;
      if (a == b || (g.broadcast && (a == 1 || b == 1))) continue;
      return error(Code::invalid_argument, "{} must {}: {} and {}", g.what,
                   g.broadcast ? "broadcast" : "be equal", a, b)
          .in(g.node == kNoNode ? "model" : describe(graph, g.node));
    }
    return {};
  }

  Status views() {
    for (SlotId i = 0; i < slots().size(); ++i) {  // a view comes after what it looks at
      const Slot& slot = slots()[i];
      if (slot.alias_of == kNoSlot || slot.kind == Slot::Kind::late) continue;
      if (i == 0 || slots()[i - 1].view_node != slot.view_node) SX_TRY(check_view(i));
      SX_TRY(compute_view(graph, slot, plan.symbols, plan.views[slot.alias_of], plan.views[i],
                          plan.addresses[i].offset));
    }
    return {};
  }

  // The views that one node makes stand side by side.
  Status check_view(SlotId first) {
    const NodeId id = slots()[first].view_node;
    std::vector<const View*> in(graph.node(id).inputs.size()), out(graph.node(id).outputs.size());
    in[size_t(graph.node(id).op->view_of)] = &plan.views[slots()[first].alias_of];
    for (SlotId i = first; i < slots().size() && slots()[i].view_node == id; ++i)
      out[slots()[i].view_output] = &plan.views[i];
    return check.agree(id, in, out).in(describe(graph, id));
  }

  static Status compute_view(const Graph& graph, const Slot& slot, std::span<const int64_t> symbols,
                             const View& from, View& to, int64_t& offset) {
    const Node& node = graph.node(slot.view_node);
    const Dims strides = from.strides.empty() ? contiguous_strides(from.dims) : from.strides;
    auto ints = [&](size_t input, std::vector<int64_t>& v) {
      if (input >= node.inputs.size() || node.inputs[input] == kNoValue) return false;
      const ValueInfo& info = graph.value(node.inputs[input]);
      v.clear();
      if (!info.is_constant() && info.has_elements) {
        for (Dim d : info.elements) {
          if (!sx::evaluate(d, symbols, v.emplace_back())) return false;
        }
        return true;
      }
      if (!info.is_constant() || !info.constant.is_tensor()) return false;
      const Tensor& t = info.constant.tensor;
      if (t.type() == DType::i64)
        v.assign(t.as<int64_t>().begin(), t.as<int64_t>().end());
      else if (t.type() == DType::i32)
        v.assign(t.as<int32_t>().begin(), t.as<int32_t>().end());
      else
        return false;
      return true;
    };
    ViewMap map;
    const ViewArgs args{node.attrs, from.dims, strides, to.dims, ints, node.outputs.size()};
    if (!make_view(*node.op, args, slot.view_output, map)) {
      return error(Code::internal, "a view of {} as {} was planned and cannot be made", to_string(from.dims),
                   to_string(to.dims))
          .in(describe(graph, slot.view_node));
    }
    to.strides = std::move(map.strides);
    if (to.contiguous()) to.strides.clear();
    size_t bytes = 0;
    dtype_bytes(to.type, uint64_t(map.offset), bytes);
    offset = int64_t(bytes);
    return {};
  }

  Status shapes() {
    size_t bytes = 0;
    for (const Slot& slot : slots())
      bytes += slot.kind == Slot::Kind::shape ? aligned(64 + 8 * graph.value(slot.value).elements.size()) : 0;
    if (bytes == 0) return {};
    SX_ASSIGN(plan.shapes, Buffer::allocate(bytes));
    char* at = static_cast<char*>(plan.shapes->mutable_data());
    for (SlotId i = 0; i < slots().size(); ++i) {
      if (slots()[i].kind != Slot::Kind::shape) continue;
      const ValueInfo& info = graph.value(slots()[i].value);
      for (size_t k = 0; k < info.elements.size(); ++k) {
        int64_t v = 0;
        if (!values.value(info.elements[k], v)) {
          const Dim d = info.elements[k];
          return error(Code::invalid_argument,
                       "element {} of '{}', {}, does not work out for these inputs: {}", k, info.name,
                       to_string(d), why_no_size(d, plan.symbols));
        }
        store_integer(info.type.elem, at, k, v);
      }
      plan.views[i].data = at;
      at += aligned(64 + 8 * info.elements.size());
    }
    return {};
  }

  SlotId root_of(SlotId s) const { return slots()[s].root; }

  // Which piece of the arena each planned root slot gets; outputs and inputs lie with the caller.
  void storage() {
    piece_of.assign(slots().size(), -1);
    std::unordered_map<size_t, uint32_t> output_of;  // by slot
    for (uint32_t o = 0; o < program.output_writer_.size(); ++o) output_of[program.output_writer_[o]] = o;
    for (SlotId i = 0; i < slots().size(); ++i) {
      const Slot& slot = slots()[i];
      if (slot.kind != Slot::Kind::planned || slot.alias_of != kNoSlot || slot.first < 0) continue;
      if (const auto it = output_of.find(i); it != output_of.end()) {
        plan.addresses[i] = {Address::Base::output, it->second, 0};
        continue;
      }
      piece_of[i] = int(pieces.size());
      pieces.push_back({aligned(program.bytes_of(plan.views[i]) + 16), slot.first, slot.last, 0});
      piece_space.push_back(slot.space);
    }
    in_place();
  }

  void in_place() {
    for (size_t k = 0; k < program.steps_.size(); ++k) {
      const Step& step = program.steps_[k];
      if (step.kind != Step::Kind::kernel || step.late) continue;
      std::vector<SlotId> taken;
      for (auto [o, i] : step.kernel->traits().in_place) {
        if (o >= step.out.size() || i >= step.in.size()) continue;
        const SlotId out = step.out[o], in = root_of(step.in[i]);
        if (std::find(taken.begin(), taken.end(), out) != taken.end()) continue;
        if (piece_of[out] < 0 || piece_of[in] < 0 || slots()[in].last != int(k)) continue;
        if (slots()[in].space != slots()[out].space || read_again(step, in, i)) continue;
        if (!plan.views[step.in[i]].contiguous() || plan.addresses[step.in[i]].offset != 0) continue;
        if (program.bytes_of(plan.views[out]) != program.bytes_of(plan.views[in])) continue;
        Piece& piece = pieces[size_t(piece_of[in])];
        if (piece.last != int(k)) continue;  // another output took it already
        pieces[size_t(piece_of[out])].bytes = 0;
        piece.last = slots()[out].last;
        piece_of[out] = piece_of[in];
        taken.push_back(out);
      }
    }
  }

  bool read_again(const Step& step, SlotId root, size_t except) const {
    for (size_t i = 0; i < step.in.size(); ++i) {
      if (i != except && root_of(step.in[i]) == root) return true;
    }
    return false;
  }

  Status prepare(Provider** failed) {
    plan.steps.resize(program.steps_.size());
    std::vector<const View*> in, out;
    for (size_t k = 0; k < program.steps_.size(); ++k) {
      const Step& step = program.steps_[k];
      if (step.kind != Step::Kind::kernel || step.late) continue;
      in.clear();
      out.clear();
      for (SlotId s : step.in) in.push_back(&plan.views[s]);
      for (SlotId s : step.out) out.push_back(&plan.views[s]);
      SX_TRY(check.agree(step.node, in, out).in(describe(graph, step.node)));
      PlannedStep& planned = plan.steps[k];
      if (Status s = program.prepare_step(step, in, out, planned); !s.ok()) {
        blame(step.provider, s, failed);
        return std::move(s).in(describe(graph, step.node));
      }
      planned.worker_stride = aligned(planned.needs.scratch_per_worker);
      const size_t workers = planned.worker_stride * machine.parallel->width();
      if (planned.needs.scratch > 0) planned.scratch = add_scratch(planned.needs.scratch, int(k));
      if (workers > 0) planned.worker_scratch = add_scratch(workers, int(k));
    }
    return {};
  }

  int64_t add_scratch(size_t bytes, int step) {
    pieces.push_back({aligned(bytes), step, step, 0});
    piece_space.push_back(0);
    return int64_t(pieces.size() - 1);  // replaced by the offset in arena()
  }

  void arena() {
    plan.arena_bytes.assign(machine.pools.size(), 0);
    for (size_t space = 0; space < machine.pools.size(); ++space) {
      std::vector<Piece> here;
      std::vector<size_t> index;
      for (size_t i = 0; i < pieces.size(); ++i) {
        if (piece_space[i] != int(space) || pieces[i].bytes == 0) continue;
        here.push_back(pieces[i]);
        index.push_back(i);
      }
      plan.arena_bytes[space] = pack(here);
      for (size_t i = 0; i < here.size(); ++i) pieces[index[i]].offset = here[i].offset;
    }
    for (PlannedStep& step : plan.steps) {
      if (step.scratch >= 0) step.scratch = pieces[size_t(step.scratch)].offset;
      if (step.worker_scratch >= 0) step.worker_scratch = pieces[size_t(step.worker_scratch)].offset;
    }
  }

  void addresses() {
    for (uint32_t i = 0; i < program.inputs_.size(); ++i)
      plan.addresses[program.inputs_[i]] = {Address::Base::input, i, 0};
    for (SlotId i = 0; i < slots().size(); ++i) {
      const Slot& slot = slots()[i];
      Address& address = plan.addresses[i];
      if (slot.alias_of != kNoSlot && slot.kind != Slot::Kind::late) {
        const Address& from = plan.addresses[slot.alias_of];
        address = {from.base, from.index, from.offset + address.offset};
        if (from.base == Address::Base::fixed || from.base == Address::Base::none) {
          char* base = static_cast<char*>(plan.views[slot.alias_of].data);
          plan.views[i].data = base ? base + (address.offset - from.offset) : nullptr;
        }
      } else if (piece_of[i] >= 0) {
        address = {Address::Base::arena, uint32_t(slot.space), pieces[size_t(piece_of[i])].offset};
      } else if (slot.kind == Slot::Kind::constant || slot.kind == Slot::Kind::shape) {
        address.base = Address::Base::fixed;
      }
    }
  }
};

size_t Program::bytes_of(const View& v) const {
  if (v.layout.kind == Layout::Kind::provider) {
    const int owner = machine_->placement->owner(v.layout);
    return owner < 0 ? 0 : machine_->placement->providers[size_t(owner)]->own_bytes(v.type, v.layout, v.dims);
  }
  size_t bytes = 0;
  dtype_bytes(v.type, uint64_t(padded_count(v.dims, v.layout)), bytes);
  return bytes;
}

// As evaluations: no kernel walks the long axes beside a zero.
static bool walks_for_nothing(ViewList in, ViewList out) {
  const auto vast = [](const View* v) { return v->defined() && vast_and_empty(v->dims); };
  const auto empty = [](const View* v) { return !v->defined() || v->count() == 0; };
  return std::all_of(out.begin(), out.end(), empty) &&
         (std::any_of(in.begin(), in.end(), vast) || std::any_of(out.begin(), out.end(), vast));
}

Status Program::prepare_step(const Step& step, ViewList in, ViewList out, PlannedStep& planned) const {
  planned.needs = {.workers = machine_->parallel->width()};
  planned.instead = nullptr;
  planned.nothing = walks_for_nothing(in, out);
  if (planned.nothing) return {};
  auto prepared = step.kernel->prepare(in, out, planned.needs);
  if (prepared.ok()) {
    planned.prepared = std::move(prepared).value();
    if (stop_requested()) SX_TRY(check_stop());  // it may be half done
    return scratch_fits(planned.needs, machine_->parallel->width());
  }
  // What a kernel finds that it cannot do is done by the last provider, if it can reach the operands.
  Provider* last = machine_->placement->providers.back();
  auto reachable = [](const View* v) { return v->layout.plain(); };
  if (prepared.status().code() != Code::unsupported || step.provider == last || step.space != 0 ||
      !std::all_of(in.begin(), in.end(), reachable) || !std::all_of(out.begin(), out.end(), reachable))
    return std::move(prepared).status();
  const std::vector<Layout> plain(std::max(in.size(), out.size()));
  CompileContext context{*machine_->graph,
                         step.node,
                         std::span(plain).first(in.size()),
                         std::span(plain).first(out.size()),
                         *machine_->weights,
                         *machine_->parallel};
  planned.needs = {};
  SX_ASSIGN(planned.instead, last->compile(context));
  return {};
}

Status Program::bind_symbols(const RunRequest& request, std::vector<int64_t>& symbols) const {
  const Graph& graph = *machine_->graph;
  symbols.assign(graph.pool().symbols(), -1);
  for (uint32_t s : outer_symbols_) symbols[s] = s < request.symbols.size() ? request.symbols[s] : -1;
  auto dims_of = [&](size_t i) -> const Dims& {
    const Binding& b = request.inputs[i];
    return b.value.is_tensor() ? b.value.tensor.dims() : b.view.dims;
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Slot& slot = slots_[inputs_[i]];
    if (!slot.rank_known) continue;
    const Dims& dims = dims_of(i);
    const std::string& name = graph.value(slot.value).name;
    auto mismatch = [&](size_t axis, const std::string& expected) {
      return error(Code::invalid_argument, "input '{}' has shape {}, expected {}: axis {} must be {}", name,
                   to_string(dims), to_string(std::span<const Dim>(slot.dims)), axis, expected);
    };
    if (dims.size() != slot.dims.size()) {
      return error(Code::invalid_argument, "input '{}' has shape {} of rank {}, expected {} of rank {}", name,
                   to_string(dims), dims.size(), to_string(std::span<const Dim>(slot.dims)),
                   slot.dims.size());
    }
    for (size_t k = 0; k < dims.size(); ++k) {
      if (slot.dims[k].is_constant()) {
        if (slot.dims[k].constant() != dims[k]) return mismatch(k, std::to_string(slot.dims[k].constant()));
      } else if (const int64_t s = pure_symbol(slot.dims[k]); s >= 0) {
        int64_t& bound = symbols[size_t(s)];
        if (bound >= 0 && bound != dims[k])
          return mismatch(k, format("{}, as '{}' is elsewhere", bound, to_string(slot.dims[k])));
        bound = dims[k];
      }
    }
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Slot& slot = slots_[inputs_[i]];
    for (size_t k = 0; slot.rank_known && k < slot.dims.size(); ++k) {
      int64_t v = 0;
      if (slot.dims[k].is_constant() || pure_symbol(slot.dims[k]) >= 0) continue;
      if (evaluate(slot.dims[k], symbols, v) && v != dims_of(i)[k]) {
        return error(Code::invalid_argument, "input '{}' has shape {}: axis {} must be {} = {}",
                     graph.value(slot.value).name, to_string(dims_of(i)), k, to_string(slot.dims[k]), v);
      }
    }
  }
  return {};
}

Result<std::shared_ptr<Plan>> Program::make_plan(const RunRequest& request) {
  auto plan = std::make_shared<Plan>();
  SX_TRY(bind_symbols(request, plan->symbols));
  Planner p{*this,
            *machine_,
            *machine_->graph,
            *plan,
            DimValues(plan->symbols),
            {},
            {},
            {},
            SizeCheck(*machine_->graph, plan->symbols)};
  SX_TRY(p.guards());
  SX_TRY(p.sizes());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    View& view = plan->views[inputs_[i]];
    view.type = request.inputs[i].view.type;
    view.dims = request.inputs[i].view.dims;
  }
  SX_TRY(p.shapes());
  SX_TRY(p.views());
  p.storage();
  SX_TRY(p.prepare(request.failed));
  p.arena();
  p.addresses();
  return plan;
}

Status make_late_view(const Graph& graph, const Slot& slot, std::span<const int64_t> symbols,
                      const View& from, View& to, int64_t& offset) {
  return Planner::compute_view(graph, slot, symbols, from, to, offset);
}

}  // namespace sx
