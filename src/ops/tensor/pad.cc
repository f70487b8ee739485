// SPDX-License-Identifier: Apache-2.0
// Pad: more (or fewer) elements before and after each axis: a constant, the edge, a reflection, or wrapped
// around.
#include <algorithm>
#include <cstring>

#include "base/workspace.h"
#include "graph/lift.h"
#include "ops/common/checks.h"
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::pad {

static Result<std::vector<size_t>> axes_of(std::span<const int64_t> named, bool given, size_t rank) {
  if (given) return normal_axes(named, rank);
  std::vector<size_t> all;
  for (size_t k = 0; k < rank; ++k) all.push_back(k);
  return all;
}

static Status infer(Infer& i) {
  const std::string mode = i.text("mode");
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    return i.fail("mode '{}' is not one of constant, reflect, edge and wrap", mode);
  SX_TRY(require_rank(i, 1, 1, "pads"));
  SX_TRY(require_one(i, 2, "constant_value"));
  SX_TRY(require_rank(i, 3, 1, "axes"));
  if (!i.rank_known(0)) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  std::vector<int64_t> named;
  const auto* pads = i.elements(1);
  if (!pads || (i.has(3) && !i.constant_ints(3, named))) {
    i.set_ranked(0, i.elem(0), i.rank(0));
    return {};
  }
  SX_ASSIGN(const std::vector<size_t> axes, axes_of(named, i.has(3), i.rank(0)));
  if (pads->size() != 2 * axes.size()) {
    return i.fail("pads has {} entries, {} axes need {}", pads->size(), axes.size(), 2 * axes.size());
  }
  std::vector<Dim> dims = i.dims(0);
  for (size_t k = 0; k < axes.size(); ++k) {
    constexpr int64_t kMost = int64_t(1) << 40;  // so that sums do not overflow
    for (Dim pad : {(*pads)[k], (*pads)[k + axes.size()]}) {
      if (pad.is_constant() && (pad.constant() < -kMost || pad.constant() > kMost))
        return i.fail("axis {} cannot be padded by {}", axes[k], pad.constant());
    }
    Dim& d = dims[axes[k]];
    d = d + (*pads)[k] + (*pads)[k + axes.size()];
    if (d.is_constant() && d.constant() < 0) return i.fail("pads take more than axis {} has", axes[k]);
  }
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

// Where output index `at` of an axis comes from; -1: from outside.
static int64_t source(std::string_view mode, int64_t at, int64_t size) {
  if (at >= 0 && at < size) return at;
  if (mode == "edge") return std::clamp(at, int64_t(0), size - 1);
  if (mode == "wrap") return ((at % size) + size) % size;
  if (mode == "reflect") {
    const int64_t period = std::max<int64_t>(1, 2 * (size - 1));
    const int64_t k = ((at % period) + period) % period;
    return k < size ? k : period - k;
  }
  return -1;
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  const std::string mode = e.text("mode");
  SX_ASSIGN(const std::vector<int64_t> pads, e.ints_of(1));
  std::vector<int64_t> named;
  if (e.has(3)) {
    SX_ASSIGN(named, e.ints_of(3));
  }
  SX_ASSIGN(const std::vector<size_t> axes, axes_of(named, e.has(3), x.rank()));
  Tensor& out = e.out(0);
  const Dims strides = contiguous_strides(x.dims());
  // For every axis, the offset that each output index adds; -1 where it lies outside.
  std::vector<Workspace<int64_t>> offset(x.rank());
  for (size_t a = 0; a < x.rank(); ++a) {
    const auto it = std::find(axes.begin(), axes.end(), a);
    const int64_t before = it == axes.end() ? 0 : pads[size_t(it - axes.begin())];
    const int64_t size = x.dims()[a];
    offset[a].reserve(size_t(out.dims()[a]));
    for (int64_t k : turns(out.dims()[a])) {
      if (size == 0 && mode != "constant") return e.fail("mode {} cannot pad the empty axis {}", mode, a);
      const int64_t from = source(mode, k - before, size);
      offset[a].push_back(from < 0 ? -1 : from * strides[a]);
    }
  }
  SX_TRY(check_stop());
  SX_ASSIGN(Tensor outside, Tensor::zeros(x.type(), {}));
  if (e.has(2)) move_one(e.in(2), 0, outside, 0);
  Odometer at(out.dims());
  move_each(
      x, out,
      [&](int64_t) {
        int64_t from = 0;
        for (size_t a = 0; a < offset.size() && from >= 0; ++a) {
          const int64_t step = offset[a][size_t(at.at()[a])];
          from = step < 0 ? -1 : from + step;
        }
        at.next();
        return from;
      },
      &outside);
  return {};
}

static Status lift_attributes(Lift& l) {
  const float value = l.attrs().floating("value", 0);
  l.attr_to_input("pads", 1);
  l.attrs().erase("value");
  if (value == 0) return {};
  const ValueId number = l.constant(Tensor::scalar_f32(value));
  l.set_input(2, l.type(0).elem == DType::f32 ? number : l.node("CastLike", {number, l.in(0)}));
  return {};
}

static Status lift_name(Lift& l) {
  l.attrs().set("pads", l.attrs().integers("paddings"));
  l.attrs().erase("paddings");
  return {};
}

extern const Op op = {
    .name = "Pad",
    .in = {{"data", "T"},
           {"pads", "tensor(int64)"},
           {"constant_value", "T", kOptional},
           {"axes", "Tind", kOptional}},
    .out = {{"output", "T"}},
    .types = {{"T", kAll25}, {"Tind", kIndices}},
    .attrs = {attr_text("mode", "constant")},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 25},
                {.since = 24, .types = {{"T", kAll24}}},
                {.since = 23, .types = {{"T", kAll23}}},
                {.since = 21, .types = {{"T", kAll21}}},
                {.since = 19, .types = {{"T", kAll13}}},
                {.since = 18},
                {.since = 13,
                 .in = {{{"data", "T"}, {"pads", "tensor(int64)"}, {"constant_value", "T", kOptional}}}},
                {.since = 11, .types = {{"T", kOldNumbers}}},
                {.since = 2,
                 .types = {{"T", kOldFloats}},
                 .attrs = {{attr_text("mode", "constant"), required_attr("pads", AttrKind::integers),
                            attr_float("value", 0)}},
                 .in = {{{"data", "T"}}},
                 .lift = lift_attributes},
                {.since = 1,
                 .attrs = {{attr_text("mode", "constant"), required_attr("paddings", AttrKind::integers),
                            attr_float("value", 0)}},
                 .lift = lift_name}},
};

}  // namespace sx::ops::pad
