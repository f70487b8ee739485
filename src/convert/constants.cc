// SPDX-License-Identifier: Apache-2.0
#include "convert/constants.h"

#include <algorithm>
#include <cstring>

#include "base/format.h"

namespace sx::convert {
namespace {

// A dense tensor larger than this cannot have been meant: a few bytes of a file must not fill the machine.
constexpr size_t kMostDenseBytes = size_t(1) << 31;

Result<int64_t> position(const SparseTensor& s, size_t k, int64_t count) {
  const auto indices = s.indices.as<int64_t>();
  int64_t at = 0;
  if (s.indices.rank() == 1) {
    at = indices[k];
  } else {
    for (size_t a = 0; a < s.dims.size(); ++a) {
      const int64_t i = indices[k * s.dims.size() + a];
      if (i < 0 || i >= s.dims[a])
        return error(Code::invalid_model, "sparse index {} leaves axis {} of {}", i, a, to_string(s.dims));
      at = at * s.dims[a] + i;
    }
  }
  if (at < 0 || at >= count)
    return error(Code::invalid_model, "sparse index {} leaves {} elements", at, count);
  return at;
}

}  // namespace

Result<Tensor> densify(const SparseTensor& s) {
  const int bits = dtype_bits(s.values.type());
  const bool text = s.values.type() == DType::string;
  if (!text && (bits < 8 || bits % 8 != 0)) {
    return error(Code::unsupported, "sparse tensors of {} are not supported", dtype_name(s.values.type()));
  }
  int64_t count = 0;
  size_t bytes = 0;
  if (!element_count(s.dims, count) || !dtype_bytes(s.values.type(), uint64_t(count), bytes) ||
      bytes > kMostDenseBytes) {
    return error(Code::invalid_model, "a sparse tensor of {} is too large to be made dense",
                 to_string(s.dims));
  }
  const size_t stored = size_t(s.values.count());
  const size_t wide = s.indices.rank() == 2 ? s.dims.size() : 1;
  if (s.indices.type() != DType::i64 || s.indices.rank() < 1 || s.indices.rank() > 2 ||
      size_t(s.indices.count()) != stored * wide) {
    return error(Code::invalid_model, "sparse indices {} do not fit {} values of a {} tensor",
                 to_string(s.indices.dims()), stored, to_string(s.dims));
  }
  SX_ASSIGN(Tensor dense, Tensor::zeros(s.values.type(), s.dims));
  const size_t size = size_t(bits) / 8;
  for (size_t k = 0; k < stored; ++k) {
    SX_ASSIGN(const int64_t at, position(s, k, count));
    if (text) {
      dense.mutable_strings()[size_t(at)] = s.values.strings()[k];
    } else {
      std::memcpy(static_cast<char*>(dense.mutable_data()) + size_t(at) * size,
                  static_cast<const char*>(s.values.data()) + k * size, size);
    }
  }
  return dense;
}

Result<Value> constant_of(const Attrs& attrs) {
  if (attrs.list().size() != 1) {
    return error(Code::invalid_model, "expects exactly one attribute, it has {}", attrs.list().size());
  }
  const Attr& a = attrs.list()[0];
  if (const auto* t = std::get_if<Tensor>(&a.value); t && a.name == "value") return Value(*t);
  if (const auto* f = std::get_if<float>(&a.value); f && a.name == "value_float")
    return Value(Tensor::scalar_f32(*f));
  if (const auto* i = std::get_if<int64_t>(&a.value); i && a.name == "value_int")
    return Value(Tensor::scalar_i64(*i));
  if (const auto* s = std::get_if<std::string>(&a.value); s && a.name == "value_string") {
    return Value(Tensor::of_strings({}, {*s}));
  }
  if (const auto* v = std::get_if<std::vector<float>>(&a.value); v && a.name == "value_floats") {
    return Value(Tensor::of<float>(DType::f32, {int64_t(v->size())}, *v));
  }
  if (const auto* v = std::get_if<std::vector<int64_t>>(&a.value); v && a.name == "value_ints") {
    return Value(Tensor::vector_i64(*v));
  }
  if (const auto* v = std::get_if<std::vector<std::string>>(&a.value); v && a.name == "value_strings") {
    return Value(Tensor::of_strings({int64_t(v->size())}, *v));
  }
  if (const auto* s = std::get_if<std::shared_ptr<const SparseTensor>>(&a.value);
      s && a.name == "sparse_value") {
    SX_ASSIGN(Tensor dense, densify(**s));
    return Value(std::move(dense));
  }
  return error(Code::invalid_model, "attribute '{}' is {}, which a Constant does not have", a.name,
               attr_kind_name(kind_of(a.value)));
}

}  // namespace sx::convert
