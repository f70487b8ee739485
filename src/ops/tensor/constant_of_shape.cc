// SPDX-License-Identifier: Apache-2.0
// ConstantOfShape: a tensor of a given shape, filled with one value; float32 zero if none is given.
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::constant_of_shape {

static Tensor value_of(const Attrs& attrs) {
  const auto* t = attrs.get<Tensor>("value");
  return t ? *t : Tensor::scalar_f32(0);
}

static Status infer(Infer& i) {
  const Tensor value = value_of(i.attrs());
  if (value.count() != 1) return i.fail("attribute 'value' has {} elements, not one", value.count());
  if (i.rank_known(0) && i.rank(0) != 1) {
    return i.fail("the shape must be a list, found dims {}", to_string(i.dims(0)));
  }
  const auto* dims = i.elements(0);
  if (!dims) {
    if (i.rank_known(0) && i.rank(0) == 1 && i.dim(0, 0).is_constant()) {
      i.set_ranked(0, value.type(), size_t(i.dim(0, 0).constant()));
    } else {
      i.set_unknown_shape(0, value.type());
    }
    return {};
  }
  for (Dim d : *dims) {
    if (d.is_constant() && d.constant() < 0)
      return i.fail("the shape {} has a negative size", to_string(*dims));
  }
  i.set_tensor(0, value.type(), Shape(*dims));
  const bool small = dims->empty() || (dims->size() == 1 && (*dims)[0].is_constant() &&
                                       size_t((*dims)[0].constant()) <= Infer::kMostElements);
  if (small && (value.type() == DType::i64 || value.type() == DType::i32)) {
    const size_t n = dims->empty() ? 1 : size_t((*dims)[0].constant());
    i.set_elements(0, std::vector<Dim>(n, number_at<int64_t>(value)));
  }
  return {};
}

static Status eval(Eval& e) {
  const Tensor value = value_of(e.attrs());
  SX_ASSIGN(const std::vector<int64_t> dims, e.ints_of(0));
  SX_TRY(e.allocate(0, value.type(), Dims(std::span<const int64_t>(dims))));
  fill(e.out(0), value);
  return {};
}

constexpr DTypeSet numbers_and_bool(DTypeSet s) { return s - kComplex - kString; }

extern const Op op = {
    .name = "ConstantOfShape",
    .in = {{"input", "T1"}},
    .out = {{"output", "T2"}},
    .types = {{"T1", DTypeSet::of(DType::i64)}, {"T2", numbers_and_bool(kAll25)}},
    .attrs = {optional_attr("value", AttrKind::tensor)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 25},
                {.since = 24, .types = {{"T2", numbers_and_bool(kAll24)}}},
                {.since = 23, .types = {{"T2", numbers_and_bool(kAll23)}}},
                {.since = 21, .types = {{"T2", numbers_and_bool(kAll21)}}},
                {.since = 20, .types = {{"T2", numbers_and_bool(kAll19)}}},
                {.since = 9, .types = {{"T2", kOldNumbers | kBool}}}},
};

}  // namespace sx::ops::constant_of_shape
