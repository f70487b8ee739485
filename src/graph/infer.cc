// SPDX-License-Identifier: Apache-2.0
#include "graph/infer.h"

#include <algorithm>

#include "graph/op.h"
#include "graph/outputs.h"

namespace sx {
namespace {

template <class T>
void append(const Tensor& t, std::vector<int64_t>& v) {
  for (size_t i = 0; i < size_t(t.count()); ++i) v.push_back(int64_t(t.element<T>(i)));
}

bool read_ints(const Tensor& t, std::vector<int64_t>& v) {
  v.clear();
  switch (t.type()) {
    case DType::i64: append<int64_t>(t, v); return true;
    case DType::i32: append<int32_t>(t, v); return true;
    case DType::i16: append<int16_t>(t, v); return true;
    case DType::i8: append<int8_t>(t, v); return true;
    case DType::u8: append<uint8_t>(t, v); return true;
    case DType::boolean: append<uint8_t>(t, v); return true;
    default: return false;
  }
}

const AttrDef* definition(const Op& op, std::string_view name) {
  for (const AttrDef& a : op.attrs) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

}  // namespace

DType widened(DType t) {
  switch (t) {
    case DType::f16:
    case DType::bf16:
    case DType::f32: return DType::f64;
    case DType::c64: return DType::c128;
    default: return t;
  }
}

Infer::Infer(const Op& op, const Attrs& attrs, std::vector<In> in, size_t outputs, DimPool& pool)
    : op_(op), attrs_(attrs), in_(std::move(in)), out_(std::max(outputs, fixed_outputs(op))), pool_(pool) {
  for (size_t i = outputs; i < out_.size(); ++i) out_[i].wanted = false;
}

Status Infer::run() {
  SX_TRY(op_.infer(*this));
  for (size_t i = 0; i < out_.size(); ++i) {
    for (Dim d : out_[i].type.shape.dims) {
      if (d.is_constant() && d.constant() < 0)
        return fail("output {} would be {}", i, to_string(out_[i].type.shape));
    }
  }
  return {};
}

const Tensor* Infer::constant(size_t i) const {
  if (!has(i) || !in_[i].constant || !in_[i].constant->is_tensor()) return nullptr;
  return &in_[i].constant->tensor;
}

const std::vector<Dim>* Infer::elements(size_t i) const {
  if (!has(i)) return nullptr;
  if (in_[i].elements) return in_[i].elements;
  const Tensor* t = constant(i);
  std::vector<int64_t> v;
  if (!t || t->rank() > 1 || size_t(t->count()) > Infer::kMostElements || !read_ints(*t, v)) return nullptr;
  if (from_constants_.empty()) from_constants_.resize(in_.size());
  from_constants_[i].assign(v.begin(), v.end());
  return &from_constants_[i];
}

bool Infer::constant_ints(size_t i, std::vector<int64_t>& v) const {
  if (const Tensor* t = constant(i)) return read_ints(*t, v);
  const std::vector<Dim>* e = elements(i);
  if (!e || !std::all_of(e->begin(), e->end(), [](Dim d) { return d.is_constant(); })) return false;
  v.clear();
  for (Dim d : *e) v.push_back(d.constant());
  return true;
}

void Infer::set_tensor(size_t i, DType elem, Shape shape) {
  if (i < out_.size()) out_[i].type = Type::tensor(elem, std::move(shape));
}

void Infer::set_ranked(size_t i, DType elem, size_t rank) {
  if (rank > kMostRank) return set_unknown_shape(i, elem);
  std::vector<Dim> dims;
  for (size_t k = 0; k < rank; ++k) dims.push_back(fresh());
  set_tensor(i, elem, Shape(std::move(dims)));
}

void Infer::set_elements(size_t i, std::vector<Dim> e) {
  if (i >= out_.size() || e.size() > kMostElements) return;
  out_[i].elements = std::move(e);
  out_[i].has_elements = true;
}

int64_t Infer::integer(std::string_view name) const {
  const AttrDef* d = definition(op_, name);
  return attrs_.integer(name, d ? d->integer : 0);
}

float Infer::floating(std::string_view name) const {
  const AttrDef* d = definition(op_, name);
  return attrs_.floating(name, d ? d->floating : 0);
}

std::string Infer::text(std::string_view name) const {
  const AttrDef* d = definition(op_, name);
  return attrs_.text(name, d ? d->text : std::string_view());
}

std::vector<int64_t> Infer::integers(std::string_view name) const { return attrs_.integers(name); }

Result<DType> Infer::dtype(std::string_view name, DType otherwise) const {
  const AttrDef* d = definition(op_, name);
  const bool given = attrs_.has(name) || (d && d->need == AttrDef::Need::defaulted);
  const int64_t n = given ? integer(name) : int64_t(otherwise);
  if (given && (n < 0 || n >= kDTypeCount || !dtype_is_valid(int(n)))) {
    return fail("attribute '{}' is {}, which is no element type", name, n);
  }
  return widen ? widened(DType(n)) : DType(n);
}

Result<size_t> Infer::axis(int64_t axis, size_t rank) const {
  const int64_t r = int64_t(rank);
  if (axis < -r || axis >= r) return fail("axis {} is out of range for rank {}", axis, rank);
  return size_t(axis < 0 ? axis + r : axis);
}

Result<Shape> Infer::broadcast(const Shape& a, const Shape& b, std::string_view what) {
  if (!a.known || !b.known) return Shape();
  const size_t rank = std::max(a.rank(), b.rank());
  std::vector<Dim> dims(rank);
  for (size_t k = 0; k < rank; ++k) {
    const Dim x = k + a.rank() < rank ? Dim(1) : a.dims[k + a.rank() - rank];
    const Dim y = k + b.rank() < rank ? Dim(1) : b.dims[k + b.rank() - rank];
    dims[k] = sx::broadcast(x, y);
    if (x == y || x.is_constant(1) || y.is_constant(1)) continue;
    if (x.is_constant() && y.is_constant()) {
      return fail("{} do not broadcast: {} and {} differ at axis {}", what, to_string(a), to_string(b), k);
    }
    guards.push_back({x, y, true, sx::format("axis {} of {}", k, what)});
  }
  return Shape(std::move(dims));
}

Result<Shape> Infer::broadcast_inputs(size_t first, size_t count) {
  Shape shape = in_[first].type.shape;
  for (size_t i = first + 1; i < first + count; ++i) {
    if (!has(i)) continue;
    SX_ASSIGN(shape, broadcast(shape, in_[i].type.shape, "the inputs"));
  }
  return shape;
}

Status Infer::require_equal(Dim a, Dim b, std::string what) {
  if (a == b) return {};
  if (a.is_constant() && b.is_constant()) return fail("{}: {} is not {}", what, a.constant(), b.constant());
  guards.push_back({a, b, false, std::move(what)});
  return {};
}

Status infer_same(Infer& i) {
  i.out(0) = i.in(0);
  return {};
}

Status infer_broadcast(Infer& i) {
  SX_ASSIGN(Shape shape, i.broadcast_inputs(0, i.inputs()));
  i.set_tensor(0, i.elem(0), std::move(shape));
  return {};
}

Status infer_broadcast_bool(Infer& i) {
  SX_ASSIGN(Shape shape, i.broadcast_inputs(0, i.inputs()));
  i.set_tensor(0, DType::boolean, std::move(shape));
  return {};
}

}  // namespace sx
