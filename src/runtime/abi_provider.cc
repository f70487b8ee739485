// SPDX-License-Identifier: Apache-2.0
#include "runtime/abi_provider.h"

#include "base/format.h"

namespace sx::abi {
namespace {

constexpr size_t kMostOnStack = 48;
using CViews = SmallArray<sx_view, kMostOnStack>;

// One kernel of a plugin; destroyed when the last prepared state of it is gone.
struct KernelHandle {
  std::shared_ptr<const void> library;
  sx_kernel* table;

  KernelHandle(std::shared_ptr<const void> l, sx_kernel* t) : library(std::move(l)), table(t) {}
  KernelHandle(const KernelHandle&) = delete;
  KernelHandle& operator=(const KernelHandle&) = delete;
  ~KernelHandle() {
    if (table->destroy) table->destroy(table->self);
  }
};

struct AbiPrepared final : Prepared {
  std::shared_ptr<KernelHandle> kernel;
  void* state = nullptr;

  ~AbiPrepared() override {
    const sx_kernel& t = *kernel->table;
    if (state && t.destroy_prepared) t.destroy_prepared(t.self, state);
  }
};

void fill(CViews& views, ViewList list) {
  for (size_t i = 0; i < list.size(); ++i) views[i] = to_c(*list[i]);
}

class AbiKernel final : public Kernel {
 public:
  AbiKernel(std::shared_ptr<KernelHandle> handle, std::string provider) : handle_(std::move(handle)) {
    const sx_kernel& t = *handle_->table;
    name_ = from_c(t.name);
    provider_ = format("provider '{}', kernel '{}'", provider, name_);
    for (size_t i = 0; i < t.in_place_count; ++i)
      traits_.in_place.emplace_back(t.in_place[i].output, t.in_place[i].input);
    traits_.strided_inputs = t.strided_inputs;
    traits_.unused_inputs = t.unused_inputs;
    traits_.values = t.values != 0;
  }
  std::string_view name() const override { return name_; }
  const KernelTraits& traits() const override { return traits_; }

  Result<std::unique_ptr<Prepared>> prepare(ViewList in, ViewList out, Needs& needs) override {
    const sx_kernel& t = *handle_->table;
    if (!t.prepare) return std::unique_ptr<Prepared>();
    CViews ins(in.size()), outs(out.size());
    fill(ins, in);
    fill(outs, out);
    auto prepared = std::make_unique<AbiPrepared>();
    prepared->kernel = handle_;
    clear_error();
    const sx_code code = t.prepare(t.self, ins.data(), in.size(), outs.data(), out.size(), needs.workers,
                                   &needs.scratch, &needs.scratch_per_worker, &prepared->state);
    if (code != SX_CODE_OK) return take(code, "prepare").in(provider_);
    return std::unique_ptr<Prepared>(std::move(prepared));
  }

  Status run(const Prepared* prepared, ViewList in, ViewList out, RunContext& context) override {
    const sx_kernel& t = *handle_->table;
    CViews ins(in.size()), outs(out.size());
    fill(ins, in);
    fill(outs, out);
    const sx_run run = run_of(context);
    const void* state = prepared ? static_cast<const AbiPrepared*>(prepared)->state : nullptr;
    const sx_code code = t.run(t.self, state, ins.data(), in.size(), outs.data(), out.size(), &run);
    return code == SX_CODE_OK ? Status() : take(code, "run").in(provider_);
  }

  Status run_values(std::span<const Value> in, std::span<Value> out, RunContext& context) override {
    const sx_kernel& t = *handle_->table;
    std::vector<const sx_value*> ins;
    std::vector<sx_value*> outs;
    for (const Value& v : in) ins.push_back(reinterpret_cast<const sx_value*>(&v));
    for (Value& v : out) outs.push_back(reinterpret_cast<sx_value*>(&v));
    const sx_run run = run_of(context);
    const sx_code code = t.run_values(t.self, ins.data(), in.size(), outs.data(), out.size(), &run);
    return code == SX_CODE_OK ? Status() : take(code, "run_values").in(provider_);
  }

 private:
  static sx_run run_of(const RunContext& c) {
    return {&c.parallel, c.parallel.width(), c.cancel, c.scratch, c.worker_scratch, c.worker_stride};
  }

  std::shared_ptr<KernelHandle> handle_;
  std::string name_, provider_;
  KernelTraits traits_;
};

class AbiMemory final : public MemorySpace {
 public:
  AbiMemory(const sx_memory* table, std::string provider) : table_(*table), provider_(std::move(provider)) {}
  Result<void*> allocate(size_t bytes) override {
    clear_error();
    if (void* p = table_.allocate(table_.self, bytes)) return p;
    return error(Code::out_of_memory, "cannot allocate {} bytes in the memory of provider '{}'", bytes,
                 provider_);
  }
  void release(void* p) override { table_.release(table_.self, p); }
  Status copy_in(void* device, const void* host, size_t bytes) override {
    const sx_code code = table_.copy_in(table_.self, device, host, bytes);
    return code == SX_CODE_OK ? Status()
                              : take(code, "copying to its memory").in(format("provider '{}'", provider_));
  }
  Status copy_out(void* host, const void* device, size_t bytes) override {
    const sx_code code = table_.copy_out(table_.self, host, device, bytes);
    return code == SX_CODE_OK ? Status()
                              : take(code, "copying from its memory").in(format("provider '{}'", provider_));
  }

 private:
  sx_memory table_;
  std::string provider_;
};

class AbiProvider final : public Provider {
 public:
  AbiProvider(const sx_provider* table, std::shared_ptr<const void> library, uint32_t owner)
      : library_(std::move(library)), table_(*table), name_(from_c(table->name)), owner_(owner) {
    if (table->memory) memory_ = std::make_unique<AbiMemory>(table->memory, name_);
  }

  std::string_view name() const override { return name_; }
  uint32_t layout_owner() const override { return owner_; }
  MemorySpace* memory() override { return memory_.get(); }

  Claim claim(const Graph& graph, NodeId node) const override {
    const NodeHandle handle{&graph, node};
    Claim claim;
    sx_text reason = {nullptr, 0};
    claim.yes = table_.claim(table_.self, handle.as_c(), &claim.cost, &reason) != 0;
    claim.reason = from_c(reason);
    return claim;
  }

  std::vector<LayoutOffer> layouts(const Graph& graph, NodeId node) const override {
    if (!table_.layouts) return {};
    const NodeHandle handle{&graph, node};
    std::vector<sx_layout_offer> list(8);
    size_t count = table_.layouts(table_.self, handle.as_c(), list.data(), list.size());
    if (count > list.size()) {
      list.resize(count);
      count = std::min(count, table_.layouts(table_.self, handle.as_c(), list.data(), list.size()));
    }
    std::vector<LayoutOffer> offers(count);
    const Node& n = graph.node(node);
    for (size_t k = 0; k < count; ++k) {
      for (size_t i = 0; i < n.inputs.size(); ++i) offers[k].in.push_back(from_c(list[k].in[i], owner_));
      for (size_t i = 0; i < n.outputs.size(); ++i) offers[k].out.push_back(from_c(list[k].out[i], owner_));
      offers[k].cost = list[k].cost;
    }
    return offers;
  }

  bool can_fuse(const Graph& graph, std::span<const NodeId> members, NodeId next,
                std::string* why_not) const override {
    if (!table_.can_fuse) return false;
    std::vector<NodeHandle> handles;
    for (NodeId n : members) handles.push_back({&graph, n});
    std::vector<const sx_node*> nodes;
    for (const NodeHandle& h : handles) nodes.push_back(h.as_c());
    const NodeHandle last{&graph, next};
    sx_text why = {nullptr, 0};
    const bool yes = table_.can_fuse(table_.self, nodes.data(), nodes.size(), last.as_c(), &why) != 0;
    if (why_not) *why_not = from_c(why);
    return yes;
  }

  Result<std::unique_ptr<Kernel>> compile(CompileContext& context) override {
    std::vector<sx_layout> in, out;
    for (const Layout& l : context.in) in.push_back(to_c(l));
    for (const Layout& l : context.out) out.push_back(to_c(l));
    const NodeHandle handle{&context.graph, context.node, &context.weights};
    sx_kernel* kernel = nullptr;
    clear_error();
    const sx_code code = table_.compile(table_.self, handle.as_c(), in.data(), out.data(), &kernel);
    return adopt(code, kernel, "compile");
  }

  Result<std::unique_ptr<Kernel>> compile_reorder(DType type, const Layout& from, const Layout& to) override {
    if (!table_.compile_reorder) return error(Code::unsupported, "provider '{}' does not reorder", name_);
    sx_kernel* kernel = nullptr;
    clear_error();
    const sx_code code = table_.compile_reorder(table_.self, sx_dtype(type), to_c(from), to_c(to), &kernel);
    return adopt(code, kernel, "compile_reorder");
  }

  size_t own_bytes(DType type, const Layout& layout, std::span<const int64_t> dims) const override {
    return table_.own_bytes
               ? table_.own_bytes(table_.self, sx_dtype(type), layout.block, dims.data(), dims.size())
               : 0;
  }

 private:
  Result<std::unique_ptr<Kernel>> adopt(sx_code code, sx_kernel* kernel, std::string_view call) {
    const std::string context = format("provider '{}'", name_);
    if (code != SX_CODE_OK) return take(code, call).in(context);
    if (!kernel) return error(Code::internal, "{} said yes and returned no kernel", call).in(context);
    if (kernel->size < sizeof(sx_kernel)) {
      return error(Code::internal, "{} returned an sx_kernel of {} bytes, expected at least {}", call,
                   kernel->size, sizeof(sx_kernel))
          .in(context);
    }
    auto handle = std::make_shared<KernelHandle>(library_, kernel);
    if (kernel->values ? !kernel->run_values : !kernel->run) {
      return error(Code::internal, "{} returned a kernel without {}", call,
                   kernel->values ? "run_values" : "run")
          .in(context);
    }
    return std::unique_ptr<Kernel>(new AbiKernel(std::move(handle), name_));
  }

  std::shared_ptr<const void> library_;
  sx_provider table_;
  std::string name_;
  uint32_t owner_;
  std::unique_ptr<AbiMemory> memory_;
};

}  // namespace

Result<std::unique_ptr<Provider>> make_provider(const sx_provider* table, std::shared_ptr<const void> library,
                                                uint32_t owner) {
  if (!table) return Status(Code::invalid_argument, "the table of a provider is missing");
  if (table->size < sizeof(sx_provider)) {
    return error(Code::invalid_argument, "an sx_provider of {} bytes, expected at least {}", table->size,
                 sizeof(sx_provider));
  }
  const std::string name(from_c(table->name));
  if (name.empty()) return Status(Code::invalid_argument, "a provider has no name");
  if (!table->claim || !table->compile) {
    return error(Code::invalid_argument, "provider '{}' has no {}", name, table->claim ? "compile" : "claim");
  }
  const sx_memory* m = table->memory;
  if (m && (m->size < sizeof(sx_memory) || !m->allocate || !m->release || !m->copy_in || !m->copy_out)) {
    return error(Code::invalid_argument,
                 "the sx_memory of provider '{}' has {} bytes, expected at least {} and all functions", name,
                 m->size, sizeof(sx_memory));
  }
  return std::unique_ptr<Provider>(new AbiProvider(table, std::move(library), owner));
}

}  // namespace sx::abi
