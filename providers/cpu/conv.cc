// SPDX-License-Identifier: Apache-2.0
// Conv on the blocked layout (3x3 by Winograd), from a plain first layer, depthwise, and plain for the rest.
#include "kernels/conv.h"

#include <algorithm>
#include <cmath>

#include "base/cpu.h"
#include "base/format.h"
#include "epilogue_chain.h"
#include "family.h"
#include "graph/op.h"
#include "kernels/reorder.h"
#include "window.h"

namespace sx::cpu::conv {
namespace {

using kernels::ConvKind;
using kernels::ConvPlan;
using kernels::ConvShape;

// Geometry of a convolution of rank 1 or 2 over concrete input dims.
Status fill_geometry(const Attrs& attrs, std::span<const int64_t> in, std::span<const int64_t> weight,
                     ConvShape& s) {
  const size_t spatial = in.size() - 2;
  SX_ASSIGN(const std::vector<Window> windows, windows_of(attrs, in.subspan(2), weight.subspan(2)));
  Window along[2];
  for (size_t k = 0; k < spatial; ++k) along[k + 2 - spatial] = windows[k];
  const Window &rows = along[0], &columns = along[1];
  s.batch = size_t(in[0]);
  s.in_channels = size_t(in[1]);
  s.out_channels = size_t(weight[0]);
  s.groups = size_t(attrs.integer("group", 1));
  s.in_h = rows.size, s.in_w = columns.size, s.kernel_h = rows.kernel, s.kernel_w = columns.kernel;
  s.stride_h = rows.stride, s.stride_w = columns.stride;
  s.dilation_h = rows.dilation, s.dilation_w = columns.dilation;
  s.pad_top = rows.begin, s.pad_left = columns.begin, s.pad_bottom = rows.end, s.pad_right = columns.end;
  return {};
}

// The shape with symbols guessed: good for choosing a kind and for packing, which depend on channels and
// kernel alone.
Result<ConvShape> guessed(const Site& site) {
  ConvShape s;
  Dims in;
  for (Dim d : site.in(0).shape.dims) in.push_back(estimate(d));
  SX_TRY(fill_geometry(site.attrs(), in, site.constant(1)->dims(), s));
  return s;
}
ConvShape nominal(const Site& site) {
  auto s = guessed(site);
  return s.ok() ? *s : ConvShape();
}

std::string refuses(const Site& site) {
  if (std::string why = refuse_unless_f32(site, {0, 1, 2}); !why.empty()) return why;
  const size_t rank = site.in(0).shape.rank();
  if (rank != 3 && rank != 4) return format("{} spatial dimensions, not 1 or 2", rank - 2);
  if (!site.constant(1)) return "the weight is not constant";
  if (!site.in(0).shape.dims[1].is_constant()) return "the number of channels is not known";
  if (site.constant(1)->rank() != rank) return format("the weight has rank {}", site.constant(1)->rank());
  const int64_t groups = site.attrs().integer("group", 1), channels = site.in(0).shape.dims[1].constant();
  const Dims& weight = site.constant(1)->dims();
  if (groups < 1 || weight[0] % groups != 0 || channels != weight[1] * groups)
    return format("{} groups of {} channels for a weight of {}", groups, channels, to_string(weight));
  auto shape = guessed(site);
  return shape.ok() ? "" : shape.status().message();
}

// Fewer multiplications, but a way there and back, and nearly twice the weights: for a handful of results
// they would be read from far away only to be used a few times.
bool worth_winograd(const ConvShape& s) {
  const size_t in = s.in_channels / s.groups, out = s.out_channels / s.groups,
               results = s.out_h() * s.out_w();
  return in >= 8 && out >= 8 && results >= (in * out > 128 * 128 ? 30 : 9);
}

Layout blocked_layout() { return {Layout::Kind::blocked_channels, uint16_t(kernels::channel_block()), 0}; }
bool in_blocked(ConvKind kind) { return kind != ConvKind::from_plain && kind != ConvKind::plain; }
bool out_blocked(ConvKind kind) { return kind != ConvKind::plain; }

// Multiplications that the time of one is worth, measured: what is computed for lanes that do not exist, what
// is copied for each result (the fewer channels share a copy, the worse), and the tiles' own pace.
double factor_of(const ConvShape& s, ConvKind kind) {
  const double block = double(kernels::channel_block());
  const double in = std::max(1.0, double(s.in_channels / s.groups)),
               out = std::max(1.0, double(s.out_channels / s.groups));
  const double pad_in = std::ceil(in / block) * block / in, pad_out = std::ceil(out / block) * block / out;
  const double results = std::max(1.0, double(s.out_h() * s.out_w())),
               pad_results = std::ceil(results / block) * block / results;
  const bool one_tap = s.kernel_h == 1 && s.kernel_w == 1;
  switch (kind) {
    case ConvKind::depthwise: return 3.0 * std::max(1.0, block / double(s.in_channels));
    case ConvKind::winograd: return 0.5 * pad_out + 3.0 / in + 3.0 / out;
    case ConvKind::blocked: return pad_out + (one_tap ? 0.0 : 0.8 * pad_in * std::min(1.0, block / out));
    case ConvKind::from_plain:
      return 1.2 * pad_out + (s.dilation_w > 1 ? 4.0 : in > 16 ? 1.5 : 0.0) * block / out;
    case ConvKind::plain: return (1.3 + (s.stride_w > 1 ? 40.0 : 11.0) / out) * pad_results;
  }
  return 1.0;
}

double cost_of(const ConvShape& s, ConvKind kind) {
  const double macs = double(s.batch * s.out_channels * s.out_h() * s.out_w()) *
                      double(s.in_channels / s.groups) * double(s.kernel_h * s.kernel_w);
  return nanoseconds_for_flops(2 * macs * factor_of(s, kind));
}

// The kinds this convolution can be, best first.
std::vector<ConvKind> kinds(const Site& site) {
  std::vector<ConvKind> list;
  const ConvShape s = nominal(site);
  for (ConvKind kind :
       {ConvKind::depthwise, ConvKind::winograd, ConvKind::blocked, ConvKind::from_plain, ConvKind::plain}) {
    if (kind == ConvKind::winograd && !worth_winograd(s)) continue;
    if (kernels::conv_refuses(s, kind).empty()) list.push_back(kind);
  }
  std::stable_sort(list.begin(), list.end(),
                   [&](ConvKind a, ConvKind b) { return factor_of(s, a) < factor_of(s, b); });
  return list;
}

std::vector<LayoutOffer> layouts(const Graph& graph, NodeId node) {
  const Site site(graph, node);
  auto chain = epilogue_of(site, site.in(0).shape.rank() - 2, site.has(2));
  std::vector<LayoutOffer> offers;
  for (ConvKind kind : kinds(site)) {
    LayoutOffer offer;
    offer.in.resize(graph.node(node).inputs.size());
    offer.out.resize(graph.node(node).outputs.size());
    if (in_blocked(kind)) offer.in[size_t(site.operand_of_input(0))] = blocked_layout();
    if (out_blocked(kind)) {
      offer.out[0] = blocked_layout();
      if (chain.ok() && chain->residual >= 0) offer.in[size_t(chain->residual)] = blocked_layout();
    }
    offer.cost = cost_of(nominal(site), kind);
    offers.push_back(std::move(offer));
  }
  return offers;
}

bool can_fuse(const Graph& graph, std::span<const NodeId> members, NodeId next, std::string* why_not) {
  const Site site(graph, members[0]);
  std::vector<NodeId> all(members.begin(), members.end());
  all.push_back(next);
  EpilogueChain chain;
  std::vector<ValueId> operands;
  return read_epilogue(graph, all, site.in(0).shape.rank() - 2, site.has(2), chain, operands, why_not);
}

struct ConvPrepared final : Prepared {
  ConvPlan plan;
};

class ConvKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<ConvKernel>();
    const size_t input = size_t(site.operand_of_input(0));
    const bool in = !context.in[input].plain(), out = !context.out[0].plain();
    bool found = false;
    for (ConvKind kind : kinds(site)) {
      if (in_blocked(kind) != in || out_blocked(kind) != out) continue;
      kernel->kind_ = kind;
      found = true;
      break;
    }
    if (!found) return Status(Code::internal, "no convolution for the assigned layouts");
    SX_ASSIGN(kernel->chain_, epilogue_of(site, site.in(0).shape.rank() - 2, site.has(2)));
    kernel->attrs_ = site.attrs();
    kernel->weight_dims_ = site.constant(1)->dims();
    kernel->input_ = input;
    if (site.has(2)) kernel->chain_.bias = site.operand_of_input(2);
    const ConvShape nominal_shape = nominal(site);
    const ConvPlan plan(nominal_shape, kernel->kind_);
    const std::string pack_kind = format("conv {} {} groups {}", kernels::conv_kind_name(kernel->kind_),
                                         isa_name(active_isa()), nominal_shape.groups);
    const auto fill = [&](const void* from, void* to) {
      kernels::pack_conv(plan, from, static_cast<float*>(to), context.parallel);
      return Status();
    };
    SX_ASSIGN(kernel->packed_,
              context.weights.pack(*site.constant(1), pack_kind, plan.packed_floats() * sizeof(float),
                                   context.parallel, fill));
    kernel->traits_.unused_inputs = uint64_t(1) << site.operand_of_input(1);
    const int residual = kernel->chain_.residual;
    if (residual >= 0 && size_t(residual) != input) kernel->traits_.in_place = {{0, uint8_t(residual)}};
    kernel->name_ = format("conv {} {}x{}{}", kernels::conv_kind_name(kernel->kind_), nominal_shape.kernel_h,
                           nominal_shape.kernel_w, kernel->chain_.text);
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Result<std::unique_ptr<Prepared>> prepare(ViewList in, ViewList, Needs& needs) override {
    ConvShape shape;
    SX_TRY(fill_geometry(attrs_, in[input_]->dims, weight_dims_, shape));
    auto prepared = std::make_unique<ConvPrepared>();
    prepared->plan = ConvPlan(shape, kind_);
    needs.scratch = prepared->plan.scratch_floats(needs.workers) * sizeof(float);
    return std::unique_ptr<Prepared>(std::move(prepared));
  }

  Status run(const Prepared* prepared, ViewList in, ViewList out, RunContext& context) override {
    kernels::Epilogue epilogue;
    epilogue.activation = chain_.activation;
    epilogue.low = chain_.low;
    epilogue.high = chain_.high;
    if (chain_.bias >= 0) epilogue.bias = in[size_t(chain_.bias)]->as<float>();
    if (chain_.residual >= 0) epilogue.residual = in[size_t(chain_.residual)]->as<float>();
    kernels::run_conv(static_cast<const ConvPrepared*>(prepared)->plan, in[input_]->as<float>(),
                      static_cast<const float*>(packed_->data()), out[0]->as_mutable<float>(), epilogue,
                      static_cast<float*>(context.scratch), context.parallel);
    return {};
  }

 private:
  ConvKind kind_ = ConvKind::plain;
  EpilogueChain chain_;
  Attrs attrs_;
  Dims weight_dims_;
  size_t input_ = 0;
  std::shared_ptr<const Buffer> packed_;
};

const Implementation kImplementations[] = {{"conv", refuses, ConvKernel::make}};
const Family kFamilies[] = {{"Conv", "", kImplementations, layouts, can_fuse}};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace sx::cpu::conv
