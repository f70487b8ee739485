// SPDX-License-Identifier: Apache-2.0
// MaxUnpool: elements put back where MaxPool found them, zeros elsewhere. Indices count in the shape that the
// window gives; a larger output_shape adds zeros behind.
#include "base/task.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/checks.h"
#include "ops/common/window.h"
#include "ops/engine/codec.h"
#include "ops/engine/move.h"

namespace sx::ops::max_unpool {

// [N, C, spatial…] before the pooling.
template <class D, class V>
static Status unpooled(const Attrs& attrs, const D& in, V& out) {
  SX_ASSIGN(const Window w, Window::of_pool(attrs));
  if (in.size() != w.axes.size() + 2) {
    return error(Code::invalid_model, "X has rank {}, kernel_shape has {} numbers", in.size(), w.axes.size());
  }
  out = {in[0], in[1]};
  for (size_t d = 0; d < w.axes.size(); ++d) {
    const Window::Axis& a = w.axes[d];
    out.push_back((in[2 + d] - 1) * a.stride - a.begin - a.end + a.kernel);
  }
  return {};
}

static Status infer(Infer& i) {
  i.set_unknown_shape(0, i.elem(0));
  SX_TRY(require_rank(i, 2, 1, "output_shape"));
  std::vector<Dim> dims;
  if (i.rank_known(0)) {
    SX_TRY(require_dims(i, 1, i.in(0).shape, "I"));
    SX_TRY(unpooled(i.attrs(), i.dims(0), dims));
    i.set_ranked(0, i.elem(0), i.rank(0));
  }
  if (i.has(2)) {
    const std::vector<Dim>* shape = i.elements(2);
    if (!shape) return {};
    if (i.rank_known(0) && shape->size() != i.rank(0))
      return i.fail("output_shape has {} numbers, X has rank {}", shape->size(), i.rank(0));
    i.set_tensor(0, i.elem(0), Shape(*shape));
  } else if (i.rank_known(0)) {
    i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  }
  return {};
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  const Reader<int64_t> index(e.in(1));
  Dims dims;
  SX_TRY(unpooled(e.attrs(), x.dims(), dims));
  int64_t count = 0;
  if (!element_count(dims, count)) return e.fail("the shape before pooling cannot be {}", to_string(dims));
  SX_ASSIGN(Tensor y, Tensor::zeros(x.type(), dims));
  StopCheck<> stop;
  for (size_t k = 0; k < index.size() && !stop(); ++k) {
    if (index[k] < 0 || index[k] >= count) return e.fail("index {} is outside {}", index[k], to_string(dims));
    move_one(x, int64_t(k), y, index[k]);
  }
  if (e.has(2)) {
    SX_ASSIGN(const std::vector<int64_t> wanted, e.ints_of(2));
    const Dims larger{std::span<const int64_t>(wanted)};
    for (size_t d = 0; d < dims.size(); ++d) {
      if (larger[d] < dims[d])
        return e.fail("output_shape {} is smaller than {}", to_string(larger), to_string(dims));
    }
    SX_ASSIGN(Tensor all, Tensor::zeros(x.type(), larger));
    move_strided(y, 0, contiguous_strides(dims), all, 0, contiguous_strides(larger), dims);
    y = std::move(all);
  }
  e.set(0, std::move(y));
  return {};
}

extern const Op op = {
    .name = "MaxUnpool",
    .in = {{"X", "T1"}, {"I", "T2"}, {"output_shape", "T2", kOptional}},
    .out = {{"output", "T1"}},
    .types = {{"T1", kFloats}, {"T2", DTypeSet::of(DType::i64)}},
    .attrs = {required_attr("kernel_shape", AttrKind::integers), optional_attr("pads", AttrKind::integers),
              optional_attr("strides", AttrKind::integers)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 22}, {.since = 11, .types = {{"T1", kOldFloats}}}, {.since = 9}},
};

}  // namespace sx::ops::max_unpool
