// SPDX-License-Identifier: Apache-2.0
// MatMul and Gemm on the f32 matrix product: a constant right side is packed ahead, batches walk by stride.
#include <algorithm>

#include "base/cpu.h"
#include "base/format.h"
#include "dense_operand.h"
#include "epilogue_chain.h"
#include "family.h"
#include "graph/op.h"
#include "kernels/gemm.h"

namespace sx::cpu::matmul {
namespace {

using kernels::BSource;
using kernels::GemmPlan;
using kernels::GemmShape;

bool is_gemm(const Site& site) { return site.op().op->name == "Gemm"; }

std::string refuses(const Site& site) {
  if (std::string why = refuse_unless_f32(site, {0, 1, 2}); !why.empty()) return why;
  for (size_t i : {size_t(0), size_t(1)}) {
    if (site.in(i).shape.rank() == 0) return "a scalar is not a matrix";
  }
  if (is_gemm(site) && site.has(2) && site.in(2).shape.rank() > 2) return "C has more than two dimensions";
  return "";
}

// A constant matrix on the right, perhaps behind a Transpose that was too large to fold.
struct ConstantRight {
  const Tensor* matrix = nullptr;
  bool transposed = false;
};

ConstantRight constant_right(const Site& site) {
  if (const Tensor* b = site.constant(1)) return {b->rank() == 2 ? b : nullptr, false};
  const int operand = site.operand_of_input(1);
  if (operand < 0) return {};
  const Graph& graph = site.graph;
  const NodeId producer = graph.value(graph.node(site.node).inputs[size_t(operand)]).producer;
  if (producer == kNoNode) return {};
  const Node& node = graph.node(producer);
  if (!node.op || node.op->name != "Transpose" || !node.op->domain.empty()) return {};
  const ValueInfo& source = graph.value(node.inputs[0]);
  if (!source.is_constant() || !source.constant.is_tensor() || source.constant.tensor.rank() != 2) return {};
  const auto* perm = node.attrs.get<std::vector<int64_t>>("perm");
  return {&source.constant.tensor, !perm || perm->front() == 1};
}

bool can_fuse(const Graph& graph, std::span<const NodeId> members, NodeId next, std::string* why_not) {
  const Site site(graph, members[0]);
  if (site.in(1).shape.rank() < 2) {
    if (why_not) *why_not = "the right side is a vector";
    return false;
  }
  std::vector<NodeId> all(members.begin(), members.end());
  all.push_back(next);
  EpilogueChain chain;
  std::vector<ValueId> operands;
  return read_epilogue(graph, all, 0, is_gemm(site) && site.has(2), chain, operands, why_not);
}

// The product as batches of matrices: where each batch axis of A and B stands still or moves.
struct Geometry {
  GemmShape shape;
  Dims batch, a_strides, b_strides;  // beyond the two innermost batch axes, walked one by one
  std::vector<int64_t> outer;        // dims of the outer walk
};

struct MatmulPrepared final : Prepared {
  GemmPlan plan;
  Geometry g;
  size_t outer_count = 1;
  ptrdiff_t c_outer = 0;
  size_t row_at = 0;  // in the scratch, in floats: where a single C is spread over a row
  DenseOperand a, b;  // those that are strided in both directions
  size_t copied = 0;  // floats at the start of the scratch that they take
};

int64_t stride_at(const View& v, size_t axis) {
  return v.strides.empty() ? contiguous_strides(v.dims)[axis] : v.strides[axis];
}

class MatmulKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<MatmulKernel>();
    kernel->gemm_ = is_gemm(site);
    kernel->a_ = size_t(site.operand_of_input(0));
    kernel->b_ = size_t(site.operand_of_input(1));
    if (kernel->gemm_) {
      kernel->trans_a_ = site.attrs().integer("transA", 0) != 0;
      kernel->trans_b_ = site.attrs().integer("transB", 0) != 0;
      kernel->alpha_ = site.attrs().floating("alpha", 1.0f);
      kernel->beta_ = site.attrs().floating("beta", 1.0f);
      kernel->c_ = site.operand_of_input(2);
    }
    SX_ASSIGN(kernel->chain_, epilogue_of(site, 0, kernel->gemm_ && site.has(2)));
    const ConstantRight right = constant_right(site);
    if (right.matrix) SX_TRY(kernel->pack(context, *right.matrix, right.transposed != kernel->trans_b_));
    const uint64_t a = uint64_t(1) << kernel->a_, b = uint64_t(1) << kernel->b_;
    if (kernel->packed_) kernel->traits_.unused_inputs |= b;
    if (kernel->packed_ || !kernel->gemm_) kernel->traits_.strided_inputs |= b;
    if (!kernel->gemm_) kernel->traits_.strided_inputs |= a;
    const int residual = kernel->chain_.residual;
    if (residual >= 0 && size_t(residual) != kernel->a_ && size_t(residual) != kernel->b_) {
      kernel->traits_.in_place = {{0, uint8_t(residual)}};
    }
    kernel->name_ = format("{}{}{}", kernel->gemm_ ? "gemm" : "matmul", kernel->packed_ ? " packed" : "",
                           kernel->chain_.text);
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Status pack(CompileContext& context, const Tensor& b, bool transposed) {
    GemmShape shape;
    shape.m = 64;
    shape.k = size_t(b.dims()[transposed ? 1 : 0]);
    shape.n = size_t(b.dims()[transposed ? 0 : 1]);
    shape.trans_b = transposed;
    const GemmPlan plan(shape, BSource::packed);
    const std::string kind = format("gemm {}{}", isa_name(active_isa()), transposed ? " transposed" : "");
    const auto fill = [&](const void* from, void* to) {
      kernels::pack_b(plan, from, static_cast<float*>(to), context.parallel);
      return Status();
    };
    SX_ASSIGN(packed_,
              context.weights.pack(b, kind, plan.packed_b_floats() * sizeof(float), context.parallel, fill));
    return {};
  }

  Result<std::unique_ptr<Prepared>> prepare(ViewList in, ViewList out, Needs& needs) override {
    auto p = std::make_unique<MatmulPrepared>();
    SX_TRY(gemm_ ? fill_gemm(*in[a_], *in[b_], p->g) : fill_matmul(*in[a_], *in[b_], *out[0], *p));
    if (gemm_ && c_ >= 0) SX_TRY(check_c(in[size_t(c_)]->dims, p->g.shape));
    p->plan = GemmPlan(p->g.shape, packed_ ? BSource::packed : BSource::plain);
    p->copied = (p->copied + 15) / 16 * 16;
    p->row_at = p->copied + p->plan.scratch_floats(needs.workers);
    const bool single = c_ >= 0 && in[size_t(c_)]->count() == 1;
    needs.scratch = (p->row_at + (single ? p->g.shape.n + 16 : 0)) * sizeof(float);
    return std::unique_ptr<Prepared>(std::move(p));
  }

  Status run(const Prepared* prepared, ViewList in, ViewList out, RunContext& context) override {
    const auto& p = *static_cast<const MatmulPrepared*>(prepared);
    kernels::Epilogue e;
    e.alpha = alpha_;
    e.activation = chain_.activation;
    e.low = chain_.low;
    e.high = chain_.high;
    if (chain_.bias >= 0) e.bias = in[size_t(chain_.bias)]->as<float>();
    const GemmShape& s = p.g.shape;
    if (chain_.residual >= 0) {
      e.residual = in[size_t(chain_.residual)]->as<float>();
      e.residual_stride = s.n;
      e.residual_batch[0] = s.c_batch[0];
      e.residual_batch[1] = s.c_batch[1];
    }
    float* scratch = static_cast<float*>(context.scratch);
    if (c_ >= 0 && beta_ != 0) use_c(*in[size_t(c_)], s, e, scratch + p.row_at);
    const float* a = p.a.data(*in[a_], scratch, context.parallel);
    const float* b =
        packed_ ? static_cast<const float*>(packed_->data()) : p.b.data(*in[b_], scratch, context.parallel);
    float* c = out[0]->as_mutable<float>();
    const float* residual = e.residual;
    for (size_t i = 0; i < p.outer_count; ++i) {
      ptrdiff_t a_at = 0, b_at = 0;
      outer_offsets(p.g, i, a_at, b_at);
      e.residual = residual ? residual + ptrdiff_t(i) * p.c_outer : nullptr;
      kernels::run_gemm(p.plan, a + a_at, b + b_at, c + ptrdiff_t(i) * p.c_outer, e, scratch + p.copied,
                        context.parallel);
    }
    return {};
  }

 private:
  Status fill_gemm(const View& a, const View& b, Geometry& g) const {
    g.shape.trans_a = trans_a_;
    g.shape.trans_b = trans_b_;
    g.shape.m = size_t(a.dims[trans_a_ ? 1 : 0]);
    g.shape.k = size_t(a.dims[trans_a_ ? 0 : 1]);
    g.shape.n = size_t(b.dims[trans_b_ ? 0 : 1]);
    return {};
  }

  static Status check_c(const Dims& c, const GemmShape& s) {
    const int64_t n = c.empty() ? 1 : c.back(), m = c.size() == 2 ? c[0] : 1;
    if ((n == 1 || n == int64_t(s.n)) && (m == 1 || m == int64_t(s.m))) return {};
    return error(Code::invalid_argument, "C has shape {}, which does not broadcast to [{}, {}]", to_string(c),
                 s.m, s.n);
  }

  // C as a bias of columns, of rows, or as a residual; a single value is spread over `row`.
  void use_c(const View& c, const GemmShape& s, kernels::Epilogue& e, float* row) const {
    const int64_t n = c.dims.empty() ? 1 : c.dims.back(), m = c.dims.size() == 2 ? c.dims[0] : 1;
    if (m == int64_t(s.m) && n == int64_t(s.n) && m > 1) {
      e.residual = c.as<float>();
      e.residual_stride = s.n;
      e.beta = beta_;
    } else if (n == int64_t(s.n)) {
      e.bias = c.as<float>();
      e.bias_scale = beta_;
    } else if (m == int64_t(s.m) && n == 1) {
      e.bias = c.as<float>();
      e.bias_axis = kernels::BiasAxis::rows;
      e.bias_scale = beta_;
    } else {
      std::fill_n(row, s.n, c.as<float>()[0]);
      e.bias = row;
      e.bias_scale = beta_;
    }
  }

  // A row of the matrix must be dense or, transposed, a column; the next one stands further on.
  static bool matrix_strides(const View& v, size_t rows_axis, size_t& ld, bool& transposed) {
    const int64_t row = stride_at(v, rows_axis), column = stride_at(v, rows_axis + 1);
    const int64_t rows = v.dims[rows_axis], columns = v.dims[rows_axis + 1];
    transposed = column != 1 && columns != 1;
    const int64_t next = transposed ? column : rows == 1 ? columns : row;
    ld = size_t(next);
    return (!transposed || row == 1 || rows == 1) && (next > 0 || rows * columns == 0);
  }

  Status fill_matmul(const View& a_in, const View& b_in, const View& out, MatmulPrepared& p) const {
    View a = a_in, b = b_in;
    if (a.strides.empty()) a.strides = contiguous_strides(a.dims);
    if (b.strides.empty()) b.strides = contiguous_strides(b.dims);
    if (a.dims.size() == 1) {
      a.dims.insert(0, 1);
      a.strides.insert(0, a.dims[1]);
    }
    if (b.dims.size() == 1) {
      b.dims.push_back(1);
      b.strides.push_back(1);
    }
    GemmShape& s = p.g.shape;
    const size_t ra = a.dims.size(), rb = b.dims.size();
    s.m = size_t(a.dims[ra - 2]);
    s.k = size_t(a.dims[ra - 1]);
    s.n = size_t(b.dims[rb - 1]);
    if (!matrix_strides(a, ra - 2, s.lda, s.trans_a)) {
      SX_TRY(p.a.copy_to(a, p.copied));
      matrix_strides(a, ra - 2, s.lda, s.trans_a);
    }
    if (!packed_ && !matrix_strides(b, rb - 2, s.ldb, s.trans_b)) {
      SX_TRY(p.b.copy_to(b, p.copied));
      matrix_strides(b, rb - 2, s.ldb, s.trans_b);
    }
    if (packed_) s.trans_b = false, s.ldb = 0;
    return fill_batches(a, b, out, p);
  }

  Status fill_batches(const View& a, const View& b, const View& out, MatmulPrepared& p) const {
    GemmShape& s = p.g.shape;
    const size_t ra = a.dims.size() - 2, rb = b.dims.size() - 2, r = std::max(ra, rb);
    Dims batch(r, 1), as(r, 0), bs(r, 0);
    for (size_t k = 0; k < r; ++k) {
      const int64_t da = k + ra >= r ? a.dims[k + ra - r] : 1, db = k + rb >= r ? b.dims[k + rb - r] : 1;
      batch[k] = da == 1 ? db : da;
      if (da != 1) as[k] = a.strides[k + ra - r];
      if (db != 1) bs[k] = b.strides[k + rb - r];
    }
    (void)out;
    // One B for every entry and A's rows evenly spaced: a single tall product.
    if (fold_rows(a, batch, as, bs, s)) {
      p.g.outer.clear();
      return {};
    }
    const int64_t matrix = int64_t(s.m * s.n);
    for (size_t inner = 0; inner < 2 && inner < r; ++inner) {
      const size_t axis = r - 1 - inner, to = 1 - inner;
      s.batch[to] = size_t(batch[axis]);
      s.a_batch[to] = as[axis];
      s.b_batch[to] = bs[axis];
      s.c_batch[to] = inner == 0 ? matrix : matrix * batch[r - 1];
    }
    p.c_outer = ptrdiff_t(matrix * int64_t(s.batch[0] * s.batch[1]));
    for (size_t k = 0; k + 2 < r; ++k) {
      p.g.outer.push_back(batch[k]);
      p.g.a_strides.push_back(as[k]);
      p.g.b_strides.push_back(bs[k]);
      p.outer_count *= size_t(batch[k]);
    }
    return {};
  }

  static bool fold_rows(const View& a, const Dims& batch, const Dims& as, const Dims& bs, GemmShape& s) {
    for (int64_t stride : bs) {
      if (stride != 0) return false;
    }
    if (s.trans_a || batch.empty()) return batch.empty();
    int64_t expected = int64_t(s.m) * int64_t(s.lda), rows = int64_t(s.m);
    if (s.m == 1) expected = int64_t(a.dims.back());
    for (size_t k = batch.size(); k-- > 0;) {
      if (batch[k] == 1) continue;
      if (as[k] != expected) return false;
      expected *= batch[k];
      rows *= batch[k];
    }
    if (s.m == 1) s.lda = size_t(a.dims.back());
    s.m = size_t(rows);
    return true;
  }

  static void outer_offsets(const Geometry& g, size_t i, ptrdiff_t& a, ptrdiff_t& b) {
    for (size_t k = g.outer.size(); k-- > 0;) {
      const ptrdiff_t at = ptrdiff_t(i % size_t(g.outer[k]));
      i /= size_t(g.outer[k]);
      a += at * g.a_strides[k];
      b += at * g.b_strides[k];
    }
  }

  bool gemm_ = false, trans_a_ = false, trans_b_ = false;
  float alpha_ = 1, beta_ = 1;
  size_t a_ = 0, b_ = 1;
  int c_ = -1;
  EpilogueChain chain_;
  std::shared_ptr<const Buffer> packed_;
};

const Implementation kImplementations[] = {{"gemm f32", refuses, MatmulKernel::make}};
const Family kFamilies[] = {{"MatMul", "", kImplementations, nullptr, can_fuse},
                            {"Gemm", "", kImplementations, nullptr, can_fuse}};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace sx::cpu::matmul
