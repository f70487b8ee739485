// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool and their global forms, on plain and blocked layouts.
#include <algorithm>

#include "base/format.h"
#include "family.h"
#include "graph/op.h"
#include "kernels/pool.h"
#include "kernels/reorder.h"
#include "window.h"

namespace sx::cpu::pool {
namespace {

using kernels::PoolKind;
using kernels::PoolShape;

bool global(const Site& site) { return site.op().op->name.starts_with("Global"); }

std::string refuses(const Site& site) {
  if (std::string why = refuse_unless_f32(site, {0}); !why.empty()) return why;
  const size_t rank = site.in(0).shape.rank();
  if (rank < 3 || rank > 5) return format("{} spatial dimensions, not 1 to 3", int64_t(rank) - 2);
  if (site.op().outputs.size() > 1 && site.op().outputs[1] != kNoValue) return "the indices are asked for";
  return "";
}

std::vector<LayoutOffer> layouts(const Graph& graph, NodeId node) {
  const Site site(graph, node);
  const double bytes = estimate_count(site.in(0).shape) * 4;
  LayoutOffer plain{std::vector<Layout>(1), std::vector<Layout>(graph.node(node).outputs.size()),
                    nanoseconds_for_bytes(bytes) * 3};
  if (!site.in(0).shape.dims[1].is_constant()) return {plain};
  LayoutOffer blocked = plain;
  blocked.in[0] = blocked.out[0] = {Layout::Kind::blocked_channels, uint16_t(kernels::channel_block()), 0};
  blocked.cost = nanoseconds_for_bytes(bytes);
  return {plain, blocked};
}

struct PoolPrepared final : Prepared {
  PoolShape shape;
};

class PoolKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<PoolKernel>();
    const bool max = site.op().op->name.ends_with("MaxPool");
    const bool with_padding = site.attrs().integer("count_include_pad", 0) != 0;
    kernel->kind_ = max ? PoolKind::max : with_padding ? PoolKind::average_with_padding : PoolKind::average;
    kernel->global_ = global(site);
    kernel->attrs_ = site.attrs();
    kernel->name_ = format("{}{} pool{}", kernel->global_ ? "global " : "", max ? "max" : "average",
                           context.in[0].plain() ? "" : " blocked");
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Result<std::unique_ptr<Prepared>> prepare(ViewList in, ViewList out, Needs&) override {
    auto p = std::make_unique<PoolPrepared>();
    PoolShape& s = p->shape;
    const Dims& x = in[0]->dims;
    const size_t spatial = x.size() - 2;
    s.kind = kind_;
    s.batch = size_t(x[0]);
    s.channels = size_t(x[1]);
    s.block = in[0]->layout.plain() ? 1 : in[0]->layout.block;
    for (size_t k = 0; k < spatial; ++k) {
      s.in[3 - spatial + k] = size_t(x[2 + k]);
      s.out[3 - spatial + k] = size_t(out[0]->dims[2 + k]);
    }
    if (global_) return std::unique_ptr<Prepared>(std::move(p));
    SX_ASSIGN(const std::vector<Window> windows,
              windows_of(attrs_, std::span<const int64_t>(x).subspan(2), attrs_.integers("kernel_shape")));
    for (size_t k = 0; k < spatial; ++k) {
      const size_t to = 3 - spatial + k;
      s.kernel[to] = windows[k].kernel;
      s.stride[to] = windows[k].stride;
      s.dilation[to] = windows[k].dilation;
      s.pad_begin[to] = windows[k].begin;
      s.pad_end[to] = windows[k].end;
    }
    return std::unique_ptr<Prepared>(std::move(p));
  }

  Status run(const Prepared* prepared, ViewList in, ViewList out, RunContext& context) override {
    const PoolShape& s = static_cast<const PoolPrepared*>(prepared)->shape;
    if (out[0]->count() == 0) return {};
    if (global_) {
      kernels::global_pool_run(s.kind, s.batch, s.channels, s.in[0] * s.in[1] * s.in[2], s.block,
                               in[0]->as<float>(), out[0]->as_mutable<float>(), context.parallel);
    } else {
      kernels::pool_run(s, in[0]->as<float>(), out[0]->as_mutable<float>(), context.parallel);
    }
    return {};
  }

 private:
  PoolKind kind_ = PoolKind::max;
  bool global_ = false;
  Attrs attrs_;
};

const Implementation kPool[] = {{"pool", refuses, PoolKernel::make}};
const Family kFamilies[] = {{"MaxPool", "", kPool, layouts},
                            {"AveragePool", "", kPool, layouts},
                            {"GlobalMaxPool", "", kPool, layouts},
                            {"GlobalAveragePool", "", kPool, layouts}};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace sx::cpu::pool
