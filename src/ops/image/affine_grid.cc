// SPDX-License-Identifier: Apache-2.0
// AffineGrid: the normalised positions of a flat or solid image, moved by one affine matrix for each of the
// batch.
#include "base/task.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/checks.h"
#include "ops/engine/codec.h"
#include "ops/engine/move.h"

namespace sx::ops::affine_grid {

static Status infer(Infer& i) {
  SX_TRY(require_rank(i, 0, 3, "theta"));
  SX_TRY(require_rank(i, 1, 1, "size"));
  const std::vector<Dim>* size = i.elements(1);
  if (!size) {
    if (i.rank_known(0) && i.rank(0) == 3 && i.dim(0, 1).is_constant()) {
      i.set_ranked(0, i.elem(0), size_t(i.dim(0, 1).constant()) + 2);
    } else {
      i.set_unknown_shape(0, i.elem(0));
    }
    return {};
  }
  if (size->size() != 4 && size->size() != 5)
    return i.fail("size must have 4 or 5 numbers, found {}", size->size());
  SX_TRY(require_sizes(i, *size, "size"));
  const int64_t axes = int64_t(size->size()) - 2;
  SX_TRY(require_dims(i, 0, Shape({(*size)[0], axes, axes + 1}), "theta"));
  std::vector<Dim> dims = {(*size)[0]};
  dims.insert(dims.end(), size->begin() + 2, size->end());
  dims.push_back(axes);
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(const std::vector<int64_t> size, e.ints_of(1));
  const bool align = e.integer("align_corners") != 0;
  const size_t axes = size.size() - 2;
  return with_class<kFloatClasses>(e, e.in(0).type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> theta(e.in(0));
    Writer<T> y(e.out(0));
    Dims spatial;
    for (size_t d = 0; d < axes; ++d) spatial.push_back(size[2 + d]);
    const int64_t points = product(spatial);
    std::vector<T> at(axes + 1, T(1));  // x, y, (z), 1
    StopCheck<> stop;
    for (int64_t n = 0; n < size[0] && !stop(); ++n) {
      Odometer place(spatial);
      for (int64_t k = 0; k < points && !stop(); ++k, place.next()) {
        for (size_t d = 0; d < axes; ++d) {
          const T index = T(place.at()[d]), length = T(spatial[d]);
          const T step = align ? T(2) / (length > 1 ? length - 1 : 1) : T(2) / length;
          at[axes - 1 - d] = align ? index * step - 1 : (index + T(0.5)) * step - 1;
        }
        for (size_t row = 0; row < axes; ++row) {
          T sum = 0;
          for (size_t c = 0; c <= axes; ++c) sum += theta[(size_t(n) * axes + row) * (axes + 1) + c] * at[c];
          y[size_t(n * points + k) * axes + row] = sum;
        }
      }
    }
    return {};
  });
}

extern const Op op = {
    .name = "AffineGrid",
    .in = {{"theta", "T1"}, {"size", "T2"}},
    .out = {{"grid", "T1"}},
    .types = {{"T1", kFloats}, {"T2", DTypeSet::of(DType::i64)}},
    .attrs = {attr_int("align_corners", 0)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 20}},
};

}  // namespace sx::ops::affine_grid
