// SPDX-License-Identifier: Apache-2.0
// Attention without a cache: queries, keys and values in any of the two usual orders, strided as they come. A
// Transpose of heads behind it costs nothing: the result is written that way.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/format.h"
#include "dense_operand.h"
#include "family.h"
#include "graph/op.h"
#include "kernels/attention.h"

namespace sx::cpu::attention {
namespace {

using kernels::AttentionMask;
using kernels::AttentionPlan;
using kernels::AttentionShape;
using kernels::AttentionStrides;

enum Input : size_t { kQ, kK, kV, kMask };

std::string refuses(const Site& site) {
  if (std::string why = refuse_unless_f32(site, {kQ, kK, kV}); !why.empty()) return why;
  for (size_t i = 4; i < site.op().inputs.size(); ++i) {
    if (site.has(i)) return "a cache of keys and values is not laid out";
  }
  for (size_t o = 1; o < site.op().outputs.size(); ++o) {
    if (site.op().outputs[o] != kNoValue && site.graph.use_count(site.op().outputs[o]) > 0)
      return "more than the result is asked for";
  }
  const size_t rank = site.in(kQ).shape.rank();
  if (rank != 4 && rank != 3) return format("rank {}", rank);
  if (site.has(kMask)) {
    const DType t = site.in(kMask).elem;
    if (t != DType::f32 && t != DType::boolean) return format("the mask is {}", dtype_name(t));
    if (!site.ranked(kMask) || site.in(kMask).shape.rank() > 4) return "the rank of the mask";
    if (site.in(kMask).shape.rank() == 0) return "the mask has no dimensions";
  }
  for (const char* name : {"left_window_size", "right_window_size"}) {
    if (site.attrs().integer(name, -1) != -1) return "a sliding window is not laid out";
  }
  // Scores of minus infinity would pass for keys that are not seen.
  if (!std::isfinite(site.attrs().floating("scale", 1.0f))) return "the scale is not a number";
  return "";
}

bool is_head_transpose(const Graph& graph, NodeId node) {
  const Node& n = graph.node(node);
  return n.op && n.op->domain.empty() && n.op->name == "Transpose" &&
         n.attrs.integers("perm") == std::vector<int64_t>{0, 2, 1, 3};
}

bool can_fuse(const Graph& graph, std::span<const NodeId> members, NodeId next, std::string* why_not) {
  const Site site(graph, members[0]);
  if (members.size() == 1 && site.in(kQ).shape.rank() == 4 && is_head_transpose(graph, next)) return true;
  if (why_not) *why_not = "only a transpose of heads can follow inside the kernel";
  return false;
}

// Neither is the same row repeated: the kernel's matrices take a distance of 0 for dense rows.
static bool rows_are_dense(const View& v) {
  if (v.strides.empty()) return true;
  const size_t last = v.dims.size() - 1;
  const bool repeated = v.strides[last - 1] == 0 && v.dims[last - 1] > 1;
  return !repeated && (v.strides[last] == 1 || v.dims[last] == 1);
}

struct AttentionPrepared final : Prepared {
  AttentionPlan plan;
  DenseOperand operand[3];  // those whose rows are not dense
  size_t copied = 0;        // floats at the start of the scratch that they take
  bool blind = false;       // there are no keys: the result is zero
};

class AttentionKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<AttentionKernel>();
    for (size_t i = 0; i < 4; ++i) kernel->operand_[i] = site.operand_of_input(i);
    kernel->transposed_ = site.body && site.body->nodes.size() == 2;
    kernel->causal_ = site.attrs().integer("is_causal", 0) != 0;
    kernel->scale_ = site.attrs().floating("scale", 0.0f);
    kernel->has_scale_ = site.attrs().has("scale");
    kernel->softcap_ = site.attrs().floating("softcap", 0.0f);
    kernel->q_heads_ = site.attrs().integer("q_num_heads", 0);
    kernel->kv_heads_ = site.attrs().integer("kv_num_heads", 0);
    for (size_t i = 0; i < 3; ++i) kernel->traits_.strided_inputs |= uint64_t(1) << kernel->operand_[i];
    if (kernel->operand_[kMask] >= 0)
      kernel->traits_.strided_inputs |= uint64_t(1) << kernel->operand_[kMask];
    kernel->name_ = kernel->transposed_ ? "attention +transpose" : "attention";
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Result<std::unique_ptr<Prepared>> prepare(ViewList in, ViewList out, Needs& needs) override {
    AttentionShape s;
    auto p = std::make_unique<AttentionPrepared>();
    View views[3];
    for (size_t i : {kQ, kK, kV}) {
      views[i] = *in[size_t(operand_[i])];
      if (!rows_are_dense(views[i])) SX_TRY(p->operand[i].copy_to(views[i], p->copied));
    }
    p->copied = (p->copied + 15) / 16 * 16;
    size_t size = 0;
    SX_TRY(heads_of(views[kQ], q_heads_, s.batch, s.heads, s.queries, s.head_size, s.q));
    SX_TRY(heads_of(views[kK], kv_heads_, s.batch, s.kv_heads, s.keys, size, s.k));
    SX_TRY(heads_of(views[kV], kv_heads_, s.batch, s.kv_heads, s.keys, s.value_size, s.v));
    const ptrdiff_t rows = ptrdiff_t(s.queries), heads = ptrdiff_t(s.heads), width = ptrdiff_t(s.value_size);
    const bool inside = transposed_ || out[0]->dims.size() == 3;
    s.out = inside ? AttentionStrides{rows * heads * width, width, heads * width}
                   : AttentionStrides{rows * heads * width, rows * width, width};
    s.scale = has_scale_ ? scale_ : 1.0f / std::sqrt(float(s.head_size));
    s.softcap = softcap_;
    s.causal = causal_;
    s.blind_rows_are_zero = true;  // as the standard says
    if (operand_[kMask] >= 0) use_mask(*in[size_t(operand_[kMask])], s);
    p->blind = s.keys == 0;
    if (p->blind) return std::unique_ptr<Prepared>(std::move(p));
    p->plan = AttentionPlan(s);
    needs.scratch = (p->copied + p->plan.scratch_floats(needs.workers)) * sizeof(float);
    return std::unique_ptr<Prepared>(std::move(p));
  }

  Status run(const Prepared* prepared, ViewList in, ViewList out, RunContext& context) override {
    if (out[0]->count() == 0) return {};
    const auto& p = *static_cast<const AttentionPrepared*>(prepared);
    if (p.blind) {
      std::memset(out[0]->data, 0, size_t(out[0]->count()) * sizeof(float));
      return {};
    }
    float* scratch = static_cast<float*>(context.scratch);
    auto data = [&](size_t i) {
      return p.operand[i].data(*in[size_t(operand_[i])], scratch, context.parallel);
    };
    const void* mask = operand_[kMask] >= 0 ? in[size_t(operand_[kMask])]->data : nullptr;
    kernels::attention_run(p.plan, data(kQ), data(kK), data(kV), mask, out[0]->as_mutable<float>(),
                           scratch + p.copied, context.parallel);
    return {};
  }

 private:
  // [batch, heads, rows, size], or [batch, rows, heads * size].
  static Status heads_of(const View& v, int64_t declared, size_t& batch, size_t& heads, size_t& rows,
                         size_t& size, AttentionStrides& strides) {
    const Dims s = v.strides.empty() ? contiguous_strides(v.dims) : v.strides;
    batch = size_t(v.dims[0]);
    if (v.dims.size() == 4) {
      heads = size_t(v.dims[1]), rows = size_t(v.dims[2]), size = size_t(v.dims[3]);
      strides = {s[0], s[1], s[2]};
      return {};
    }
    if (declared < 1 || v.dims[2] % declared != 0)
      return error(Code::invalid_argument, "{} does not divide into {} heads", v.dims[2], declared);
    heads = size_t(declared), rows = size_t(v.dims[1]), size = size_t(v.dims[2] / declared);
    strides = {s[0], ptrdiff_t(size), s[1]};
    return {};
  }

  static void use_mask(const View& mask, AttentionShape& s) {
    s.mask = mask.type == DType::boolean ? AttentionMask::boolean : AttentionMask::additive;
    const Dims strides = mask.strides.empty() ? contiguous_strides(mask.dims) : mask.strides;
    // Keys behind a mask that is shorter are hidden.
    s.keys = std::min(s.keys, size_t(mask.dims.back()));
    for (size_t k = 0; k < mask.dims.size(); ++k) {
      if (mask.dims[k] != 1) s.mask_strides[4 - mask.dims.size() + k] = strides[k];
    }
  }

  int operand_[4] = {-1, -1, -1, -1};
  bool transposed_ = false, causal_ = false, has_scale_ = false;
  float scale_ = 0, softcap_ = 0;
  int64_t q_heads_ = 0, kv_heads_ = 0;
};

const Implementation kAttention[] = {{"attention tiles", refuses, AttentionKernel::make}};
const Family kFamilies[] = {{"Attention", "", kAttention, nullptr, can_fuse}};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace sx::cpu::attention
