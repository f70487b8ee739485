// SPDX-License-Identifier: Apache-2.0
#include "runtime/abi_export.h"

#include <exception>

#include "base/format.h"
#include "runtime/weights.h"

namespace sx::abi {
namespace {

constexpr size_t kMostOnStack = 24;

Provider& provider_of(void* self) { return *static_cast<Provider*>(self); }

// Nothing that is thrown below (only the standard library does) gets past the tables.
template <class F>
sx_code guarded(F&& f) {
  try {
    return give(f());
  } catch (const std::bad_alloc&) {
    set_error("out of memory");
    return SX_CODE_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    set_error(e.what());
    return SX_CODE_INTERNAL;
  }
}

// A kernel of ours behind its table.
struct ExportedKernel {
  std::unique_ptr<Kernel> kernel;
  std::vector<sx_in_place> in_place;
  uint32_t owner = 0;
  sx_kernel table = {};

  static ExportedKernel& of(void* self) { return *static_cast<ExportedKernel*>(self); }
};

// The views of one call, as our kernels want them.
struct CallViews {
  SmallArray<View, kMostOnStack> views;
  SmallArray<const View*, kMostOnStack> pointers;

  CallViews(const sx_view* list, size_t count, uint32_t owner) : views(count), pointers(count) {
    for (size_t i = 0; i < count; ++i) {
      if (list[i].type != 0) view_from_c(list[i], owner, views[i]);
      pointers[i] = &views[i];
    }
  }
  ViewList list() { return {pointers.data(), pointers.size()}; }
};

RunContext context_of(const sx_run& run) {
  return {*static_cast<Parallel*>(run.parallel),
          static_cast<const Cancel*>(run.cancel),
          run.scratch,
          run.worker_scratch,
          run.worker_stride,
          nullptr};
}

sx_code kernel_prepare(void* self, const sx_view* in, size_t in_count, const sx_view* out, size_t out_count,
                       size_t workers, size_t* scratch, size_t* scratch_per_worker, void** prepared) {
  return guarded([&]() -> Status {
    ExportedKernel& k = ExportedKernel::of(self);
    CallViews ins(in, in_count, k.owner), outs(out, out_count, k.owner);
    Needs needs{.workers = workers};
    SX_ASSIGN(std::unique_ptr<Prepared> made, k.kernel->prepare(ins.list(), outs.list(), needs));
    *scratch = needs.scratch;
    *scratch_per_worker = needs.scratch_per_worker;
    *prepared = made.release();
    return {};
  });
}

void kernel_destroy_prepared(void*, void* prepared) { delete static_cast<Prepared*>(prepared); }

sx_code kernel_run(void* self, const void* prepared, const sx_view* in, size_t in_count, const sx_view* out,
                   size_t out_count, const sx_run* run) {
  return guarded([&] {
    ExportedKernel& k = ExportedKernel::of(self);
    CallViews ins(in, in_count, k.owner), outs(out, out_count, k.owner);
    RunContext context = context_of(*run);
    return k.kernel->run(static_cast<const Prepared*>(prepared), ins.list(), outs.list(), context);
  });
}

sx_code kernel_run_values(void* self, const sx_value* const* in, size_t in_count, sx_value* const* out,
                          size_t out_count, const sx_run* run) {
  return guarded([&]() -> Status {
    std::vector<Value> ins(in_count), outs(out_count);
    for (size_t i = 0; i < in_count; ++i) ins[i] = *reinterpret_cast<const Value*>(in[i]);
    RunContext context = context_of(*run);
    SX_TRY(ExportedKernel::of(self).kernel->run_values(ins, outs, context));
    for (size_t i = 0; i < out_count; ++i) *reinterpret_cast<Value*>(out[i]) = std::move(outs[i]);
    return {};
  });
}

sx_kernel* export_kernel(std::unique_ptr<Kernel> kernel, uint32_t owner) {
  auto e = std::make_unique<ExportedKernel>();
  e->kernel = std::move(kernel);
  e->owner = owner;
  const KernelTraits& traits = e->kernel->traits();
  for (auto [output, input] : traits.in_place) e->in_place.push_back({output, input});
  sx_kernel& t = e->table;
  t.size = sizeof(sx_kernel);
  t.self = e.get();
  t.name = to_c(e->kernel->name());
  t.in_place = e->in_place.data();
  t.in_place_count = e->in_place.size();
  t.strided_inputs = traits.strided_inputs;
  t.unused_inputs = traits.unused_inputs;
  t.values = traits.values;
  t.destroy = [](void* self) { delete &ExportedKernel::of(self); };
  t.prepare = kernel_prepare;
  t.destroy_prepared = kernel_destroy_prepared;
  t.run = kernel_run;
  t.run_values = kernel_run_values;
  return &e.release()->table;
}

// Answers that the caller copies before the next call on this thread.
thread_local std::string answer;
thread_local std::vector<sx_layout> answer_layouts;

int32_t provider_claim(void* self, const sx_node* node, double* cost, sx_text* reason) {
  const NodeHandle& h = NodeHandle::of(node);
  Claim claim = provider_of(self).claim(*h.graph, h.node);
  answer = std::move(claim.reason);
  *cost = claim.cost;
  *reason = to_c(answer);
  return claim.yes;
}

size_t provider_layouts(void* self, const sx_node* node, sx_layout_offer* offers, size_t room) {
  const NodeHandle& h = NodeHandle::of(node);
  const std::vector<LayoutOffer> list = provider_of(self).layouts(*h.graph, h.node);
  const size_t ins = h.graph->node(h.node).inputs.size(), outs = h.graph->node(h.node).outputs.size();
  answer_layouts.assign(list.size() * (ins + outs), sx_layout{});
  for (size_t k = 0; k < list.size() && k < room; ++k) {
    sx_layout* in = answer_layouts.data() + k * (ins + outs);
    for (size_t i = 0; i < ins && i < list[k].in.size(); ++i) in[i] = to_c(list[k].in[i]);
    for (size_t i = 0; i < outs && i < list[k].out.size(); ++i) in[ins + i] = to_c(list[k].out[i]);
    offers[k] = {in, in + ins, list[k].cost};
  }
  return list.size();
}

int32_t provider_can_fuse(void* self, const sx_node* const* members, size_t count, const sx_node* next,
                          sx_text* why_not) {
  std::vector<NodeId> ids(count);
  for (size_t i = 0; i < count; ++i) ids[i] = NodeHandle::of(members[i]).node;
  answer.clear();
  const NodeHandle& h = NodeHandle::of(next);
  const bool yes = provider_of(self).can_fuse(*h.graph, ids, h.node, &answer);
  *why_not = to_c(answer);
  return yes;
}

sx_code provider_compile(void* self, const sx_node* node, const sx_layout* in, const sx_layout* out,
                         sx_kernel** kernel) {
  return guarded([&]() -> Status {
    Provider& p = provider_of(self);
    const NodeHandle& h = NodeHandle::of(node);
    if (!h.weights) return Status(Code::internal, "compile was called with a node of another call");
    const Node& n = h.graph->node(h.node);
    std::vector<Layout> ins(n.inputs.size()), outs(n.outputs.size());
    for (size_t i = 0; i < ins.size(); ++i) ins[i] = from_c(in[i], p.layout_owner());
    for (size_t i = 0; i < outs.size(); ++i) outs[i] = from_c(out[i], p.layout_owner());
    Serial serial;
    CompileContext context{*h.graph, h.node, ins, outs, *h.weights, serial};
    SX_ASSIGN(auto made, p.compile(context));
    *kernel = export_kernel(std::move(made), p.layout_owner());
    return {};
  });
}

sx_code provider_compile_reorder(void* self, sx_dtype type, sx_layout from, sx_layout to,
                                 sx_kernel** kernel) {
  return guarded([&]() -> Status {
    Provider& p = provider_of(self);
    SX_ASSIGN(auto made,
              p.compile_reorder(DType(type), from_c(from, p.layout_owner()), from_c(to, p.layout_owner())));
    *kernel = export_kernel(std::move(made), p.layout_owner());
    return {};
  });
}

size_t provider_own_bytes(void* self, sx_dtype type, uint32_t own, const int64_t* dims, size_t rank) {
  Provider& p = provider_of(self);
  return p.own_bytes(DType(type), {Layout::Kind::provider, uint16_t(own), p.layout_owner()}, {dims, rank});
}

MemorySpace& memory_of(void* self) { return *static_cast<MemorySpace*>(self); }

void* memory_allocate(void* self, size_t bytes) {
  auto p = memory_of(self).allocate(bytes);
  if (!p.ok()) give(p.status());
  return p.ok() ? *p : nullptr;
}
void memory_release(void* self, void* p) { memory_of(self).release(p); }
sx_code memory_copy_in(void* self, void* device, const void* host, size_t bytes) {
  return give(memory_of(self).copy_in(device, host, bytes));
}
sx_code memory_copy_out(void* self, void* host, const void* device, size_t bytes) {
  return give(memory_of(self).copy_out(host, device, bytes));
}

}  // namespace

ExportedProvider::ExportedProvider(std::unique_ptr<Provider> provider)
    : provider_(std::move(provider)), name_(provider_->name()) {
  table_.size = sizeof(sx_provider);
  table_.self = provider_.get();
  table_.name = to_c(name_);
  table_.claim = provider_claim;
  table_.layouts = provider_layouts;
  table_.can_fuse = provider_can_fuse;
  table_.compile = provider_compile;
  table_.compile_reorder = provider_compile_reorder;
  table_.own_bytes = provider_own_bytes;
  if (MemorySpace* memory = provider_->memory()) {
    memory_ = {sizeof(sx_memory), memory, memory_allocate, memory_release, memory_copy_in, memory_copy_out};
    table_.memory = &memory_;
  }
}

}  // namespace sx::abi
