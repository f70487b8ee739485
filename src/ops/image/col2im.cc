// SPDX-License-Identifier: Apache-2.0
// Col2Im: columns of blocks put back where they lay in an image; where blocks overlap they add up.
#include "base/task.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/engine/codec.h"
#include "ops/engine/move.h"

namespace sx::ops::col2im {

static Status infer(Infer& i) {
  const std::vector<Dim>*image = i.elements(1), *block = i.elements(2);
  if (!image || !i.rank_known(0)) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  if (i.rank(0) != 3) return i.fail("input must be [N, C·block, L], found rank {}", i.rank(0));
  Dim channels = i.fresh("channels");
  if (block) {
    Dim size = 1;
    for (Dim d : *block) size = size * d;
    channels = floordiv(i.dim(0, 1), size);
  }
  std::vector<Dim> dims = {i.dim(0, 0), channels};
  dims.insert(dims.end(), image->begin(), image->end());
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(const std::vector<int64_t> image, e.ints_of(1));
  SX_ASSIGN(const std::vector<int64_t> block, e.ints_of(2));
  const size_t axes = image.size();
  const std::vector<int64_t> dilations = e.attrs().integers("dilations", std::vector<int64_t>(axes, 1));
  const std::vector<int64_t> strides = e.attrs().integers("strides", std::vector<int64_t>(axes, 1));
  const std::vector<int64_t> pads = e.attrs().integers("pads", std::vector<int64_t>(2 * axes, 0));
  if (block.size() != axes || dilations.size() != axes || strides.size() != axes || pads.size() != 2 * axes) {
    return e.fail("block_shape, dilations, strides and pads must fit {} axes", axes);
  }
  Dims places;  // of blocks along each axis
  for (size_t d = 0; d < axes; ++d) {
    if (strides[d] < 1 || block[d] < 1) return e.fail("strides and blocks must be positive");
    const int64_t room = image[d] + pads[d] + pads[axes + d] - dilations[d] * (block[d] - 1) - 1;
    places.push_back(room < 0 ? 0 : room / strides[d] + 1);
  }
  const Tensor& x = e.in(0);
  const int64_t taps = product(block), count = product(places), plane = product(image);
  if (x.rank() != 3 || x.dims()[1] % taps != 0 || x.dims()[2] != count) {
    return e.fail("input {} does not fit {} blocks of {} elements", to_string(x.dims()), count, taps);
  }
  return with_class<kAllClasses>(e, x.type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> in(x);
    Writer<T> y(e.out(0));
    y.fill(T(0));
    const int64_t planes = x.dims()[0] * x.dims()[1] / taps;
    Odometer tap(block);
    StopCheck<> stop;
    for (int64_t t = 0; t < taps && !stop(); ++t, tap.next()) {
      Odometer place(places);
      for (int64_t k = 0; k < count && !stop(size_t(planes)); ++k, place.next()) {
        int64_t at = 0;
        bool inside = true;
        for (size_t d = 0; d < axes; ++d) {
          const int64_t p = place.at()[d] * strides[d] - pads[d] + tap.at()[d] * dilations[d];
          inside = inside && p >= 0 && p < image[d];
          at = at * image[d] + p;
        }
        if (!inside) continue;
        for (int64_t c = 0; c < planes; ++c)
          y[size_t(c * plane + at)] += in[size_t((c * taps + t) * count + k)];
      }
    }
    return {};
  });
}

extern const Op op = {
    .name = "Col2Im",
    .in = {{"input", "T"}, {"image_shape", "tensor(int64)"}, {"block_shape", "tensor(int64)"}},
    .out = {{"output", "T"}},
    .types = {{"T", kAll13}},
    .attrs = {optional_attr("dilations", AttrKind::integers), optional_attr("pads", AttrKind::integers),
              optional_attr("strides", AttrKind::integers)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 18}},
};

}  // namespace sx::ops::col2im
