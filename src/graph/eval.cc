// SPDX-License-Identifier: Apache-2.0
#include "graph/eval.h"

#include <algorithm>

#include "graph/op.h"
#include "graph/outputs.h"

namespace sx {
namespace {

const AttrDef* definition(const Op& op, std::string_view name) {
  for (const AttrDef& a : op.attrs) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

template <class T>
std::vector<T> list_of(const Attrs& attrs, std::string_view name) {
  const auto* v = attrs.get<std::vector<T>>(name);
  return v ? *v : std::vector<T>();
}

}  // namespace

Eval::Eval(const Op& op, const Attrs& attrs, std::span<const Value> in, size_t outputs)
    : op_(op), attrs_(attrs), in_(in), out_(std::max(outputs, fixed_outputs(op))), wanted_(outputs, true) {
  wanted_.resize(out_.size(), false);
}

Status Eval::allocate(size_t i, DType type, Dims dims) {
  SX_ASSIGN(Tensor t, Tensor::allocate(type, std::move(dims)));
  out_[i] = Value(std::move(t));
  return {};
}

int64_t Eval::integer(std::string_view name) const {
  const AttrDef* d = definition(op_, name);
  return attrs_.integer(name, d ? d->integer : 0);
}

float Eval::floating(std::string_view name) const {
  const AttrDef* d = definition(op_, name);
  return attrs_.floating(name, d ? d->floating : 0);
}

std::string Eval::text(std::string_view name) const {
  const AttrDef* d = definition(op_, name);
  return attrs_.text(name, d ? d->text : std::string_view());
}

std::vector<int64_t> Eval::integers(std::string_view name) const { return attrs_.integers(name); }
std::vector<float> Eval::floatings(std::string_view name) const { return list_of<float>(attrs_, name); }
std::vector<std::string> Eval::texts(std::string_view name) const {
  return list_of<std::string>(attrs_, name);
}

BodyId Eval::body(std::string_view name) const {
  const auto* b = attrs_.get<BodyRef>(name);
  return b ? b->id : kNoBody;
}

Result<std::vector<int64_t>> Eval::ints_of(size_t i) const {
  if (!has(i) || !in_[i].is_tensor()) return fail("input {} is not a tensor", i);
  const Tensor& t = in(i);
  const bool wide = t.type() == DType::i64;
  if (!wide && t.type() != DType::i32)
    return fail("input {} is {}, not int32 or int64", i, dtype_name(t.type()));
  std::vector<int64_t> v(size_t(t.count()));
  for (size_t k = 0; k < v.size(); ++k) v[k] = wide ? t.element<int64_t>(k) : t.element<int32_t>(k);
  return v;
}

Result<size_t> Eval::axis(int64_t axis, size_t rank) const {
  const int64_t r = int64_t(rank);
  if (axis < -r || axis >= r) return fail("axis {} is out of range for rank {}", axis, rank);
  return size_t(axis < 0 ? axis + r : axis);
}

}  // namespace sx
