// SPDX-License-Identifier: Apache-2.0
// Constant: a value that an attribute holds, in one of eight forms.
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::constant {

// Indices are linear, or one row an element.
static Result<Tensor> dense(const SparseTensor& s) {
  SX_ASSIGN(Tensor t, Tensor::zeros(s.values.type(), s.dims));
  const Dims strides = contiguous_strides(s.dims);
  const bool rows = s.indices.rank() == 2;
  const size_t width = rows ? s.dims.size() : 1;
  if (s.indices.type() != DType::i64 || size_t(s.indices.count()) != size_t(s.values.count()) * width) {
    return error(Code::invalid_model, "sparse_value has {} values and {} indices", s.values.count(),
                 s.indices.count());
  }
  const auto indices = s.indices.as<int64_t>();
  for (int64_t k : turns(s.values.count())) {
    int64_t at = 0;
    for (size_t axis = 0; axis < width; ++axis) {
      const int64_t index = indices[size_t(k) * width + axis];
      if (index < 0 || index >= (rows ? s.dims[axis] : t.count()))
        return error(Code::invalid_model, "sparse_value's index {} lies outside", index);
      at += index * (rows ? strides[axis] : 1);
    }
    move_one(s.values, k, t, at);
  }
  SX_TRY(check_stop());
  return t;
}

template <class T>
static Tensor list(DType type, const std::vector<T>& v) {
  return Tensor::of<T>(type, Dims{int64_t(v.size())}, std::span<const T>(v));
}

static Result<Tensor> value_of(const Attrs& attrs) {
  if (const auto* t = attrs.get<Tensor>("value")) return *t;
  if (const auto* s = attrs.get<std::shared_ptr<const SparseTensor>>("sparse_value")) return dense(**s);
  if (const auto* v = attrs.get<int64_t>("value_int")) return Tensor::scalar_i64(*v);
  if (const auto* v = attrs.get<float>("value_float")) return Tensor::scalar_f32(*v);
  if (const auto* v = attrs.get<std::string>("value_string")) return Tensor::of_strings({}, {*v});
  if (const auto* v = attrs.get<std::vector<int64_t>>("value_ints")) return list(DType::i64, *v);
  if (const auto* v = attrs.get<std::vector<float>>("value_floats")) return list(DType::f32, *v);
  if (const auto* v = attrs.get<std::vector<std::string>>("value_strings")) {
    return Tensor::of_strings(Dims{int64_t(v->size())}, *v);
  }
  return error(Code::invalid_model,
               "none of value, sparse_value, value_int, value_ints, value_float, value_floats, "
               "value_string and value_strings is given");
}

static Status infer(Infer& i) {
  SX_ASSIGN(const Tensor t, value_of(i.attrs()));
  i.set_tensor(0, t.type(), constant_shape(t.dims()));
  if (t.type() == DType::i64 && t.rank() <= 1 && size_t(t.count()) <= Infer::kMostElements) {
    const auto v = t.as<int64_t>();
    i.set_elements(0, std::vector<Dim>(v.begin(), v.end()));
  }
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(Tensor t, value_of(e.attrs()));
  e.set(0, Value(std::move(t)));
  return {};
}

static std::vector<AttrDef> forms() {
  return {
      optional_attr("value", AttrKind::tensor),         optional_attr("sparse_value", AttrKind::sparse),
      optional_attr("value_int", AttrKind::integer),    optional_attr("value_ints", AttrKind::integers),
      optional_attr("value_float", AttrKind::floating), optional_attr("value_floats", AttrKind::floatings),
      optional_attr("value_string", AttrKind::text),    optional_attr("value_strings", AttrKind::texts)};
}
static std::vector<AttrDef> old_forms() {
  return {optional_attr("value", AttrKind::tensor), optional_attr("sparse_value", AttrKind::sparse)};
}

extern const Op op = {
    .name = "Constant",
    .out = {{"output", "T"}},
    .types = {{"T", kAll25}},
    .attrs = forms(),
    .infer = infer,
    .eval = eval,
    .history = {{.since = 25},
                {.since = 24, .types = {{"T", kAll24}}},
                {.since = 23, .types = {{"T", kAll23}}},
                {.since = 21, .types = {{"T", kAll21}}},
                {.since = 19, .types = {{"T", kAll19}}},
                {.since = 13, .types = {{"T", kAll13}}},
                {.since = 12, .types = {{"T", kOldAll}}},
                {.since = 11, .attrs = old_forms()},
                {.since = 9, .attrs = {{required_attr("value", AttrKind::tensor)}}},
                {.since = 1, .types = {{"T", kOldFloats}}}},
};

}  // namespace sx::ops::constant
