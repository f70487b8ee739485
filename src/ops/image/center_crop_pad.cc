// SPDX-License-Identifier: Apache-2.0
// CenterCropPad: the middle of a tensor, cut or surrounded by zeros to the shape given.
#include <algorithm>

#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/checks.h"
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::center_crop_pad {

static std::vector<int64_t> axes_of(const Attrs& attrs, size_t rank) {
  std::vector<int64_t> axes = attrs.integers("axes");
  if (axes.empty()) {
    for (size_t k = 0; k < rank; ++k) axes.push_back(int64_t(k));
  }
  return axes;
}

static Status infer(Infer& i) {
  if (!i.rank_known(0)) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  std::vector<Dim> dims = i.dims(0);
  SX_ASSIGN(const std::vector<size_t> axes, normal_axes(axes_of(i.attrs(), dims.size()), dims.size()));
  SX_TRY(require_rank(i, 1, 1, "shape"));
  const std::vector<Dim>* shape = i.elements(1);
  if (shape && shape->size() != axes.size())
    return i.fail("shape has {} numbers for {} axes", shape->size(), axes.size());
  if (shape) SX_TRY(require_sizes(i, *shape, "shape"));
  for (size_t k = 0; k < axes.size(); ++k) dims[axes[k]] = shape ? (*shape)[k] : i.fresh();
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  SX_ASSIGN(Tensor y, Tensor::zeros(x.type(), e.out(0).dims()));
  int64_t from = 0, to = 0;
  Dims common;
  const Dims xs = contiguous_strides(x.dims()), ys = contiguous_strides(y.dims());
  for (size_t d = 0; d < x.rank(); ++d) {
    const int64_t a = x.dims()[d], b = y.dims()[d];
    from += std::max<int64_t>(a - b, 0) / 2 * xs[d];
    to += std::max<int64_t>(b - a, 0) / 2 * ys[d];
    common.push_back(std::min(a, b));
  }
  if (product(common) > 0) move_strided(x, from, xs, y, to, ys, common);
  e.set(0, std::move(y));
  return {};
}

extern const Op op = {
    .name = "CenterCropPad",
    .in = {{"input_data", "T"}, {"shape", "Tind"}},
    .out = {{"output_data", "T"}},
    .types = {{"T", kAll13}, {"Tind", kIndices}},
    .attrs = {optional_attr("axes", AttrKind::integers)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 18}},
};

}  // namespace sx::ops::center_crop_pad
