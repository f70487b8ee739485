// SPDX-License-Identifier: Apache-2.0
// MaxUnpool: elements put back where MaxPool found them, zeros elsewhere. Indices count in the shape that the
// window gives; a larger output_shape adds zeros behind.
#include "base/task.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/engine/move.h"

namespace sx::ops::max_unpool {

// [N, C, spatial…] before the pooling.
template <class D, class V>
static Status unpooled(const Attrs& attrs, const D& in, V& out) {
  const std::vector<int64_t> kernel = attrs.integers("kernel_shape");
  const size_t axes = kernel.size();
  const std::vector<int64_t> strides = attrs.integers("strides", std::vector<int64_t>(axes, 1));
  const std::vector<int64_t> pads = attrs.integers("pads", std::vector<int64_t>(2 * axes, 0));
  if (in.size() != axes + 2 || strides.size() != axes || pads.size() != 2 * axes) {
    return error(Code::invalid_model, "kernel_shape, strides and pads do not fit rank {}", in.size());
  }
  out = {in[0], in[1]};
  for (size_t d = 0; d < axes; ++d) {
    out.push_back((in[2 + d] - 1) * strides[d] - pads[d] - pads[axes + d] + kernel[d]);
  }
  return {};
}

static Status infer(Infer& i) {
  if (i.has(2)) {
    const std::vector<Dim>* shape = i.elements(2);
    if (shape)
      i.set_tensor(0, i.elem(0), Shape(*shape));
    else if (i.rank_known(0))
      i.set_ranked(0, i.elem(0), i.rank(0));
    else
      i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  if (!i.rank_known(0)) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  std::vector<Dim> dims;
  SX_TRY(unpooled(i.attrs(), i.dims(0), dims));
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  SX_ASSIGN(const std::vector<int64_t> index, e.ints_of(1));
  Dims dims;
  SX_TRY(unpooled(e.attrs(), x.dims(), dims));
  int64_t count = 0;
  if (!element_count(dims, count)) return e.fail("the shape before pooling cannot be {}", to_string(dims));
  SX_ASSIGN(Tensor y, Tensor::zeros(x.type(), dims));
  if (int64_t(index.size()) != x.count())
    return e.fail("{} indices for {} elements", index.size(), x.count());
  StopCheck<> stop;
  for (size_t k = 0; k < index.size() && !stop(); ++k) {
    if (index[k] < 0 || index[k] >= count) return e.fail("index {} is outside {}", index[k], to_string(dims));
    move_one(x, int64_t(k), y, index[k]);
  }
  if (e.has(2)) {
    SX_ASSIGN(const std::vector<int64_t> wanted, e.ints_of(2));
    const Dims larger{std::span<const int64_t>(wanted)};
    if (larger.size() != dims.size())
      return e.fail("output_shape {} is not of rank {}", to_string(larger), dims.size());
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
