// SPDX-License-Identifier: Apache-2.0
#include "graph/type.h"

namespace sx {

Type Type::tensor(DType elem, Shape shape) {
  Type t;
  t.kind = Value::Kind::tensor;
  t.elem = elem;
  t.shape = std::move(shape);
  return t;
}

namespace {
Type wrap(Value::Kind kind, Type inner) {
  Type t;
  t.kind = kind;
  t.inner = std::make_shared<const Type>(std::move(inner));
  return t;
}
}  // namespace

Type Type::sequence(Type element) { return wrap(Value::Kind::sequence, std::move(element)); }
Type Type::optional(Type element) { return wrap(Value::Kind::optional, std::move(element)); }

Type Type::map(DType key, Type value) {
  Type t = wrap(Value::Kind::map, std::move(value));
  t.key = key;
  return t;
}

bool Type::operator==(const Type& o) const {
  if (kind != o.kind || elem != o.elem || key != o.key || shape != o.shape) return false;
  if (!inner || !o.inner) return inner == o.inner;
  return *inner == *o.inner;
}

Type type_of(const Value& v) {
  switch (v.kind) {
    case Value::Kind::tensor: return Type::tensor(v.tensor.type(), constant_shape(v.tensor.dims()));
    case Value::Kind::sequence: {
      Type element;
      if (!v.sequence->items.empty()) {
        element = type_of(v.sequence->items[0]);
        for (const Value& item : v.sequence->items) {
          if (type_of(item).shape != element.shape) element.shape = {};
        }
      }
      return Type::sequence(std::move(element));
    }
    case Value::Kind::optional: return Type::optional(v.optional ? type_of(*v.optional) : Type());
    case Value::Kind::map:
      return Type::map(v.map->key_type, v.map->values.empty() ? Type() : type_of(v.map->values[0]));
    case Value::Kind::sparse: {
      Type t = Type::tensor(v.sparse->values.type(), constant_shape(v.sparse->dims));
      t.kind = Value::Kind::sparse;
      return t;
    }
    case Value::Kind::none: break;
  }
  return {};
}

std::string to_string(const Type& type) {
  const std::string inner = type.inner ? to_string(*type.inner) : "?";
  switch (type.kind) {
    case Value::Kind::none: return "unknown";
    case Value::Kind::tensor: return std::string(dtype_name(type.elem)) + to_string(type.shape);
    case Value::Kind::sparse: return "sparse " + std::string(dtype_name(type.elem)) + to_string(type.shape);
    case Value::Kind::sequence: return "seq(" + inner + ")";
    case Value::Kind::optional: return "optional(" + inner + ")";
    case Value::Kind::map: return "map(" + std::string(dtype_name(type.key)) + ", " + inner + ")";
  }
  return "?";
}

}  // namespace sx
