// SPDX-License-Identifier: Apache-2.0
// Col2Im: columns of blocks put back where they lay in an image; where blocks overlap they add up.
#include "base/task.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/checks.h"
#include "ops/common/window.h"
#include "ops/engine/codec.h"
#include "ops/engine/move.h"

namespace sx::ops::col2im {

// The window that `blocks` come from; image sizes that are too small for it have no block.
static Result<Window> window_of(const Attrs& attrs, std::span<const int64_t> block, size_t axes) {
  if (block.size() != axes) {
    return error(Code::invalid_model, "block_shape has {} numbers, image_shape {}", block.size(), axes);
  }
  return Window::of(attrs, block);
}

static Status infer(Infer& i) {
  i.set_unknown_shape(0, i.elem(0));
  SX_TRY(require_rank(i, 0, 3, "input"));
  SX_TRY(require_rank(i, 1, 1, "image_shape"));
  SX_TRY(require_rank(i, 2, 1, "block_shape"));
  const std::vector<Dim>* image = i.elements(1);
  if (!image || !i.rank_known(0)) return {};
  SX_TRY(require_sizes(i, *image, "image_shape"));
  Dim channels = i.fresh("channels");
  std::vector<int64_t> block;
  if (i.constant_ints(2, block)) {
    SX_TRY(window_of(i.attrs(), block, image->size()));
    const int64_t taps = product(block);
    if (i.dim(0, 1).is_constant() && i.dim(0, 1).constant() % taps != 0)
      return i.fail("axis 1 of the input has {} elements, blocks have {}", i.dim(0, 1).constant(), taps);
    channels = floordiv(i.dim(0, 1), taps);
  }
  std::vector<Dim> dims = {i.dim(0, 0), channels};
  dims.insert(dims.end(), image->begin(), image->end());
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(const std::vector<int64_t> image, e.ints_of(1));
  SX_ASSIGN(const std::vector<int64_t> block, e.ints_of(2));
  SX_ASSIGN(const Window window, window_of(e.attrs(), block, image.size()));
  const size_t axes = image.size();
  Dims places;  // of blocks along each axis
  for (size_t d = 0; d < axes; ++d) {
    const Window::Axis& a = window.axes[d];
    const int64_t room = image[d] + a.begin + a.end - a.reach();
    places.push_back(room < 0 ? 0 : room / a.stride + 1);
  }
  const Tensor& x = e.in(0);
  const int64_t taps = product(block), plane = product(image);
  int64_t count = 0;
  if (!element_count(places, count) || x.dims()[2] != count) {
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
          const int64_t p = place.at()[d] * window.axes[d].stride - window.axes[d].begin +
                            tap.at()[d] * window.axes[d].dilation;
          inside = inside && p >= 0 && p < image[d];
          at = at * image[d] + p;
        }
        if (!inside) continue;
        for (int64_t c : turns(planes)) y[size_t(c * plane + at)] += in[size_t((c * taps + t) * count + k)];
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
