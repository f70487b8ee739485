// SPDX-License-Identifier: Apache-2.0
// The CPU provider: looks operators up in the families and asks their implementations in order.
#include "base/cpu.h"
#include "base/format.h"
#include "family.h"
#include "graph/op.h"
#include "kernels/reorder.h"

#define SX_ITEM(name)                 \
  namespace sx::cpu::name {           \
  std::span<const Family> families(); \
  }
#include "cpu_family_list.inc"
#undef SX_ITEM

namespace sx::cpu {

Site::Site(const Graph& g, NodeId n) : graph(g), node(n), anchor(n), body(group_body(g, n)) {
  if (body) anchor = body->nodes.front();
}

const Tensor* Site::constant(size_t i) const {
  if (!has(i)) return nullptr;
  const ValueInfo& v = graph.value(op().inputs[i]);
  return v.is_constant() && v.constant.is_tensor() ? &v.constant.tensor : nullptr;
}

int Site::operand(ValueId inside) const {
  const std::vector<ValueId>& list = body ? body->inputs : graph.node(node).inputs;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == inside) return int(i);
  }
  return -1;
}

const Family* find_family(std::string_view domain, std::string_view op) {
  static const std::vector<const Family*> all = [] {
    std::vector<const Family*> list;
#define SX_ITEM(name) \
  for (const Family& f : name::families()) list.push_back(&f);
#include "cpu_family_list.inc"
#undef SX_ITEM
    return list;
  }();
  for (const Family* f : all) {
    if (f->op == op && f->domain == domain) return f;
  }
  return nullptr;
}

std::string refuse_unless_f32(const Site& site, std::initializer_list<size_t> inputs) {
  for (size_t i : inputs) {
    if (!site.has(i)) continue;
    if (!site.is_f32(i)) return format("input {} is {}, not float32", i, to_string(site.in(i)));
    if (!site.ranked(i)) return format("the rank of input {} is not known", i);
  }
  return "";
}

Result<std::vector<int64_t>> ints_of(const View& v) {
  if (!v.data) return Status(Code::internal, "an integer operand has no contents");
  std::vector<int64_t> list;
  for (int64_t i = 0; i < v.count(); ++i) {
    if (v.type == DType::i64)
      list.push_back(v.as<int64_t>()[i]);
    else if (v.type == DType::i32)
      list.push_back(v.as<int32_t>()[i]);
    else
      return error(Code::internal, "expected int32 or int64, found {}", dtype_name(v.type));
  }
  return list;
}

double nanoseconds_for_flops(double flops) { return flops / 100.0; }
double nanoseconds_for_bytes(double bytes) { return bytes / 10.0; }

namespace {

class ReorderKernel final : public NamedKernel {
 public:
  ReorderKernel(Layout from, Layout to) : from_(from), to_(to) {
    name_ = format("reorder {} to {}", to_string(from), to_string(to));
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext& context) override {
    const Dims& d = in[0]->dims;
    const size_t batch = size_t(d[0]), channels = size_t(d[1]);
    size_t space = 1;
    for (size_t i = 2; i < d.size(); ++i) space *= size_t(d[i]);
    if (from_.plain()) {
      kernels::to_blocked(in[0]->as<float>(), out[0]->as_mutable<float>(), batch, channels, space, to_.block,
                          context.parallel);
    } else {
      kernels::from_blocked(in[0]->as<float>(), out[0]->as_mutable<float>(), batch, channels, space,
                            from_.block, context.parallel);
    }
    return {};
  }

 private:
  Layout from_, to_;
};

const Family* family_of(const Graph& graph, NodeId node) {
  const Node& n = graph.node(node);
  return n.op ? find_family(n.op->domain, n.op->name) : nullptr;
}

class CpuProvider final : public Provider {
 public:
  std::string_view name() const override { return "cpu"; }

  Claim claim(const Graph& graph, NodeId node) const override {
    const Family* family = family_of(graph, node);
    if (!family) return Claim::no("no kernel for this operator");
    std::string reasons;
    for (const Implementation& i : family->list) {
      std::string why = i.refuses(Site(graph, node));
      if (why.empty()) return {true, 0, format("{}{}{}", i.name, reasons.empty() ? "" : "; not ", reasons)};
      reasons += format("{}{}: {}", reasons.empty() ? "" : ", ", i.name, why);
    }
    return Claim::no(std::move(reasons));
  }

  std::vector<LayoutOffer> layouts(const Graph& graph, NodeId node) const override {
    const Family* family = family_of(graph, Site(graph, node).anchor);
    return family && family->layouts ? family->layouts(graph, node) : std::vector<LayoutOffer>();
  }

  bool can_fuse(const Graph& graph, std::span<const NodeId> members, NodeId next,
                std::string* why_not) const override {
    const Family* family = family_of(graph, members.front());
    return family && family->can_fuse && family->can_fuse(graph, members, next, why_not);
  }

  Result<std::unique_ptr<Kernel>> compile(CompileContext& context) override {
    const Site site(context.graph, context.node);
    const Family* family = family_of(context.graph, site.anchor);
    if (!family) return Status(Code::internal, "no kernel for this operator");
    for (const Implementation& i : family->list) {
      if (i.refuses(site).empty()) return i.make(context);
    }
    return Status(Code::internal, "every implementation refuses what was claimed");
  }

  Result<std::unique_ptr<Kernel>> compile_reorder(DType type, const Layout& from, const Layout& to) override {
    const bool known = from.kind != Layout::Kind::provider && to.kind != Layout::Kind::provider &&
                       from.plain() != to.plain();
    if (type != DType::f32 || !known) {
      return error(Code::unsupported, "cannot move {} from {} to {}", dtype_name(type), to_string(from),
                   to_string(to));
    }
    return std::unique_ptr<Kernel>(new ReorderKernel(from, to));
  }
};

}  // namespace

std::unique_ptr<Provider> make() { return std::make_unique<CpuProvider>(); }

}  // namespace sx::cpu
