// SPDX-License-Identifier: Apache-2.0
#include "convert/types.h"

#include <algorithm>

#include "base/format.h"

namespace sx::convert {
namespace {

Result<DType> elem_type(int32_t n) {
  if (!dtype_is_valid(n)) return error(Code::invalid_model, "element type {} does not exist", n);
  return DType(n);
}

Shape to_shape(const onnx::TensorShapeProto& shape, const DimNames& names) {
  std::vector<Dim> dims;
  for (const onnx::DimensionProto& d : shape.dim) {
    if (d.dim_value.present && d.dim_value >= 0) {
      dims.push_back(int64_t(d.dim_value));
    } else if (!names.named) {
      dims.push_back(names.pool.fresh());
    } else if (d.dim_param.empty() || d.dim_param == "?") {
      dims.push_back(names.pool.symbol(format("{}_dim{}", names.hint, dims.size())));
    } else {
      dims.push_back(names.pool.symbol(d.dim_param));
    }
  }
  return Shape(std::move(dims));
}

Result<Type> to_tensor_type(const onnx::TensorTypeProto& t, Value::Kind kind, const DimNames& names) {
  SX_ASSIGN(const DType elem, elem_type(t.elem_type));
  Type type = Type::tensor(elem, t.shape ? to_shape(*t.shape, names) : Shape());
  type.kind = kind;
  return type;
}

Result<Type> inner_type(const onnx::Box<onnx::TypeProto>& inner, std::string_view of, const DimNames& names) {
  if (!inner) return error(Code::invalid_model, "a {} type says nothing about its elements", of);
  return to_type(*inner, names);
}

onnx::TensorTypeProto from_tensor_type(const Type& type) {
  onnx::TensorTypeProto t;
  t.elem_type = int32_t(type.elem);
  if (type.shape.known) {
    auto& shape = t.shape.make();
    for (Dim d : type.shape.dims) {
      onnx::DimensionProto dim;
      if (d.is_constant())
        dim.dim_value = d.constant();
      else
        dim.dim_param = to_string(d);
      shape.dim.push_back(std::move(dim));
    }
  }
  return t;
}

std::string standard_elem(DType t) {
  if (t == DType::f32) return "float";
  if (t == DType::f64) return "double";
  return std::string(dtype_name(t));
}

}  // namespace

Result<Type> to_type(const onnx::TypeProto& type, const DimNames& names) {
  if (type.tensor_type) return to_tensor_type(*type.tensor_type, Value::Kind::tensor, names);
  if (type.sparse_tensor_type) return to_tensor_type(*type.sparse_tensor_type, Value::Kind::sparse, names);
  const DimNames inside{names.pool};
  if (type.sequence_type) {
    SX_ASSIGN(Type inner, inner_type(type.sequence_type->elem_type, "sequence", inside));
    return Type::sequence(std::move(inner));
  }
  if (type.optional_type) {
    SX_ASSIGN(Type inner, inner_type(type.optional_type->elem_type, "optional", inside));
    return Type::optional(std::move(inner));
  }
  if (type.map_type) {
    SX_ASSIGN(const DType key, elem_type(type.map_type->key_type));
    SX_ASSIGN(Type inner, inner_type(type.map_type->value_type, "map", inside));
    return Type::map(key, std::move(inner));
  }
  if (type.opaque_type) return error(Code::unsupported, "opaque types are not supported");
  return error(Code::invalid_model, "the type is empty");
}

onnx::TypeProto from_type(const Type& type) {
  onnx::TypeProto p;
  switch (type.kind) {
    case Value::Kind::tensor: p.tensor_type.make() = from_tensor_type(type); break;
    case Value::Kind::sparse: p.sparse_tensor_type.make() = from_tensor_type(type); break;
    case Value::Kind::sequence: p.sequence_type.make().elem_type = from_type(*type.inner); break;
    case Value::Kind::optional: p.optional_type.make().elem_type = from_type(*type.inner); break;
    case Value::Kind::map:
      p.map_type.make().key_type = int32_t(type.key);
      p.map_type->value_type = from_type(*type.inner);
      break;
    case Value::Kind::none: break;
  }
  return p;
}

std::string standard_name(const Type& type) {
  const std::string inner = type.inner ? standard_name(*type.inner) : "?";
  switch (type.kind) {
    case Value::Kind::tensor: return "tensor(" + standard_elem(type.elem) + ")";
    case Value::Kind::sparse: return "sparse_tensor(" + standard_elem(type.elem) + ")";
    case Value::Kind::sequence: return "seq(" + inner + ")";
    case Value::Kind::optional: return "optional(" + inner + ")";
    // The standard writes a map's value without its tensor().
    case Value::Kind::map:
      return "map(" + standard_elem(type.key) + "," +
             (type.inner && type.inner->is_tensor() ? standard_elem(type.inner->elem) : inner) + ")";
    case Value::Kind::none: break;
  }
  return "?";
}

}  // namespace sx::convert
