// SPDX-License-Identifier: Apache-2.0
// Operators that only move elements: whatever the records can say as a view (Transpose, Slice, Split, Expand
// …) is a strided copy; Concat and Pad are several.
#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "family.h"
#include "fill.h"
#include "graph/op.h"
#include "kernels/strided_copy.h"

namespace sx::cpu::move {
namespace {

using kernels::CopyPlan;

size_t element_bytes(DType t) { return size_t(dtype_bits(t)) / 8; }

std::string refuse_type(const Site& site, size_t i) {
  if (!site.has(i)) return "";
  const Type& t = site.in(i);
  if (!t.is_tensor() || t.elem == DType::string) return format("input {} is {}", i, to_string(t));
  if (dtype_bits(t.elem) < 8 || dtype_bits(t.elem) % 8 != 0)
    return format("{} has no whole bytes", dtype_name(t.elem));
  if (!t.shape.known) return format("the rank of input {} is not known", i);
  return "";
}

bool known_before_run(const Site& site, size_t i) {
  if (!site.has(i)) return true;
  const ValueInfo& v = site.graph.value(site.op().inputs[i]);
  if (v.is_constant()) return true;
  // Sizes that only a run tells would have to be looked at in each run.
  return v.has_elements &&
         std::none_of(v.elements.begin(), v.elements.end(), [](Dim d) { return mentions_fresh(d); });
}

// Strides of both sides for one copy; dims of size 1 do not matter.
Result<CopyPlan> plan_copy(DType type, const Dims& dims, const Dims& from, const Dims& to) {
  std::vector<size_t> sizes(dims.begin(), dims.end());
  std::vector<ptrdiff_t> a(from.begin(), from.end()), b(to.begin(), to.end());
  return CopyPlan::make(element_bytes(type), sizes, a, b);
}

Dims strides_of(const View& v) { return v.strides.empty() ? contiguous_strides(v.dims) : v.strides; }

struct Piece {
  CopyPlan plan;
  size_t in = 0, out = 0;
  int64_t from = 0, to = 0;  // bytes
  bool empty = false;
};
struct MovePrepared final : Prepared {
  std::vector<Piece> pieces;
  bool fill = false;
};

class MoveKernel : public NamedKernel {
 public:
  Status run(const Prepared* prepared, ViewList in, ViewList out, RunContext& context) override {
    for (const Piece& p : static_cast<const MovePrepared*>(prepared)->pieces) {
      if (p.empty) continue;
      kernels::copy_run(p.plan, in[p.in]->as<char>() + p.from, out[p.out]->as_mutable<char>() + p.to,
                        context.parallel);
    }
    return {};
  }
};

// ---- what a record can say as a view

std::string view_refuses(const Site& site) {
  if (std::string why = refuse_type(site, 0); !why.empty()) return why;
  for (size_t i = 1; i < site.op().inputs.size(); ++i) {
    if (!known_before_run(site, i)) return format("input {} is known only during the run", i);
  }
  return site.op().op->view ? "" : "it is not a view";
}

class ViewKernel final : public MoveKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<ViewKernel>();
    kernel->op_ = site.op().op;
    kernel->attrs_ = site.attrs();
    kernel->name_ = format("copy {}", site.op().op->name);
    if (!kernel->op_->view_keeps_order) kernel->traits_.strided_inputs = 1;
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Result<std::unique_ptr<Prepared>> prepare(ViewList in, ViewList out, Needs&) override {
    auto p = std::make_unique<MovePrepared>();
    const Dims strides = strides_of(*in[0]);
    auto ints = [&](size_t i, std::vector<int64_t>& v) {
      if (i >= in.size() || !in[i]->defined() || !in[i]->data) return false;
      auto list = ints_of(*in[i]);
      if (!list.ok()) return false;
      v = std::move(list).value();
      return true;
    };
    for (size_t o = 0; o < out.size(); ++o) {
      if (!out[o]->defined()) continue;
      ViewMap map;
      const ViewArgs args{attrs_, in[0]->dims, strides, out[o]->dims, ints, out.size()};
      if (!make_view(*op_, args, o, map)) {
        return error(Code::unsupported, "{} of {} to {} is not a view", op_->name, to_string(in[0]->dims),
                     to_string(out[o]->dims));
      }
      Piece piece;
      piece.out = o;
      piece.from = map.offset * int64_t(element_bytes(in[0]->type));
      piece.empty = out[o]->count() == 0;
      SX_ASSIGN(piece.plan,
                plan_copy(in[0]->type, out[o]->dims, map.strides, contiguous_strides(out[o]->dims)));
      p->pieces.push_back(std::move(piece));
    }
    return std::unique_ptr<Prepared>(std::move(p));
  }

 private:
  const Op* op_ = nullptr;
  Attrs attrs_;
};

// ---- Concat

std::string concat_refuses(const Site& site) {
  for (size_t i = 0; i < site.op().inputs.size(); ++i) {
    if (std::string why = refuse_type(site, i); !why.empty()) return why;
  }
  return "";
}

class ConcatKernel final : public MoveKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<ConcatKernel>();
    kernel->axis_ = site.attrs().integer("axis", 0);
    kernel->name_ = "concat";
    for (size_t i = 0; i < site.op().inputs.size() && i < 64; ++i)
      kernel->traits_.strided_inputs |= uint64_t(1) << i;
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Result<std::unique_ptr<Prepared>> prepare(ViewList in, ViewList out, Needs&) override {
    auto p = std::make_unique<MovePrepared>();
    const Dims to = contiguous_strides(out[0]->dims);
    const size_t axis = size_t(axis_ < 0 ? axis_ + int64_t(to.size()) : axis_);
    int64_t at = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      Piece piece;
      piece.in = i;
      piece.to = at * to[axis] * int64_t(element_bytes(in[i]->type));
      piece.empty = in[i]->count() == 0;
      SX_ASSIGN(piece.plan, plan_copy(in[i]->type, in[i]->dims, strides_of(*in[i]), to));
      at += in[i]->dims[axis];
      p->pieces.push_back(std::move(piece));
    }
    return std::unique_ptr<Prepared>(std::move(p));
  }

 private:
  int64_t axis_ = 0;
};

// ---- Pad, all modes: the result is a grid of at most 3 parts an axis

std::string pad_refuses(const Site& site) {
  if (std::string why = refuse_type(site, 0); !why.empty()) return why;
  if (!known_before_run(site, 1) || !known_before_run(site, 3))
    return "the pads are known only during the run";
  const std::string mode = site.attrs().text("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge") return format("mode '{}'", mode);
  return "";
}

class PadKernel final : public MoveKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<PadKernel>();
    kernel->mode_ = site.attrs().text("mode", "constant");
    kernel->name_ = "pad " + kernel->mode_;
    kernel->traits_.strided_inputs = 1;
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Result<std::unique_ptr<Prepared>> prepare(ViewList in, ViewList out, Needs&) override {
    const size_t rank = in[0]->dims.size();
    std::vector<int64_t> before(rank, 0), after(rank, 0);
    SX_TRY(read_pads(in, before, after));
    auto p = std::make_unique<MovePrepared>();
    p->fill = mode_ == "constant";
    Dims from(rank, 0), to(rank, 0), size(rank, 0), sign(rank, 1);
    SX_TRY(add_parts(*in[0], *out[0], before, after, 0, from, to, size, sign, *p));
    return std::unique_ptr<Prepared>(std::move(p));
  }

  Status run(const Prepared* prepared, ViewList in, ViewList out, RunContext& context) override {
    if (static_cast<const MovePrepared*>(prepared)->fill) {
      const bool given = in.size() > 2 && in[2]->defined() && in[2]->data;
      fill_elements(out[0]->data, size_t(out[0]->count()), element_bytes(out[0]->type),
                    given ? in[2]->as<char>() : nullptr, context.parallel);
    }
    return MoveKernel::run(prepared, in, out, context);
  }

 private:
  static Status read_pads(ViewList in, std::vector<int64_t>& before, std::vector<int64_t>& after) {
    const int64_t rank = int64_t(before.size());
    SX_ASSIGN(const std::vector<int64_t> pads, ints_of(*in[1]));
    std::vector<int64_t> axes;
    if (in.size() > 3 && in[3]->defined()) {
      SX_ASSIGN(axes, ints_of(*in[3]));
    } else {
      for (int64_t k = 0; k < rank; ++k) axes.push_back(k);
    }
    if (pads.size() != 2 * axes.size())
      return error(Code::invalid_argument, "{} pads for {} axes", pads.size(), axes.size());
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
      if (axis < 0 || axis >= rank)
        return error(Code::invalid_argument, "axis {} of a tensor of rank {}", axes[i], rank);
      before[size_t(axis)] = pads[i];
      after[size_t(axis)] = pads[axes.size() + i];
    }
    return {};
  }

  // One axis after the other: the copied middle, and for reflect and edge the borders.
  Status add_parts(const View& in, const View& out, const std::vector<int64_t>& before,
                   const std::vector<int64_t>& after, size_t axis, Dims& from, Dims& to, Dims& size,
                   Dims& sign, MovePrepared& p) const {
    if (axis == in.dims.size()) return add_piece(in, out, from, to, size, sign, p);
    const int64_t n = in.dims[axis], b = before[axis], a = after[axis];
    auto part = [&](int64_t at_in, int64_t at_out, int64_t count, int64_t direction) -> Status {
      if (count <= 0) return {};
      from[axis] = at_in, to[axis] = at_out, size[axis] = count, sign[axis] = direction;
      return add_parts(in, out, before, after, axis + 1, from, to, size, sign, p);
    };
    const int64_t cut_b = std::max<int64_t>(0, -b), cut_a = std::max<int64_t>(0, -a);
    SX_TRY(part(cut_b, std::max<int64_t>(0, b), n - cut_b - cut_a, 1));
    if (mode_ == "constant") return {};
    if (n == 0 && (b > 0 || a > 0))
      return error(Code::invalid_argument, "axis {} has no element to repeat", axis);
    const int64_t end = std::max<int64_t>(0, b) + n - cut_b;
    if (mode_ == "reflect" && n > 1) {
      SX_TRY(mirrored(n, -b, 0, b, part));
      return mirrored(n, n, end, a, part);
    }
    SX_TRY(part(0, 0, b, 0));
    return part(n - 1, end, a, 0);
  }

  // `count` elements from position `at_in` of an axis of n that is mirrored at its first and its last element
  // without end: runs that go up to the last and runs that go down to the first.
  template <class Part>
  static Status mirrored(int64_t n, int64_t at_in, int64_t at_out, int64_t count, const Part& part) {
    const int64_t period = 2 * (n - 1);
    for (int64_t done = 0, run = 0; done < count; done += run) {
      const int64_t place = ((at_in + done) % period + period) % period;
      const bool up = place < n - 1;
      run = std::min(count - done, up ? n - 1 - place : period - place);
      SX_TRY(part(up ? place : period - place, at_out + done, run, up ? 1 : -1));
    }
    return {};
  }

  static Status add_piece(const View& in, const View& out, const Dims& from, const Dims& to, const Dims& size,
                          const Dims& sign, MovePrepared& p) {
    // A short axis that is mirrored far has more turns than elements.
    if (p.pieces.size() >= kMostPieces) return error(Code::unsupported, "more than {} pieces", kMostPieces);
    const Dims own = strides_of(in), dense = contiguous_strides(out.dims);
    const int64_t bytes = int64_t(element_bytes(in.type));
    Dims strides(own.size(), 0);
    Piece piece;
    for (size_t k = 0; k < own.size(); ++k) {
      strides[k] = own[k] * sign[k];
      piece.from += from[k] * own[k] * bytes;
      piece.to += to[k] * dense[k] * bytes;
    }
    piece.empty = product(size) == 0;
    SX_ASSIGN(piece.plan, plan_copy(in.type, size, strides, dense));
    p.pieces.push_back(std::move(piece));
    return {};
  }

  static constexpr size_t kMostPieces = 4096;
  std::string mode_;
};

const Implementation kView[] = {{"strided copy", view_refuses, ViewKernel::make}};
const Implementation kConcat[] = {{"concat", concat_refuses, ConcatKernel::make}};
const Implementation kPad[] = {{"pad", pad_refuses, PadKernel::make}};
const Family kFamilies[] = {
    {"Transpose", "", kView}, {"Slice", "", kView},    {"Split", "", kView},   {"Expand", "", kView},
    {"Reshape", "", kView},   {"Flatten", "", kView},  {"Squeeze", "", kView}, {"Unsqueeze", "", kView},
    {"Identity", "", kView},  {"Concat", "", kConcat}, {"Pad", "", kPad},
};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace sx::cpu::move
