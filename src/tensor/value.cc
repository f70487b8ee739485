// SPDX-License-Identifier: Apache-2.0
#include "tensor/value.h"

namespace sx {

Value Value::of_sequence(std::vector<Value> items) {
  Value v;
  v.kind = Kind::sequence;
  v.sequence = std::make_shared<const Sequence>(Sequence{std::move(items)});
  return v;
}

Value Value::of_map(Map map) {
  Value v;
  v.kind = Kind::map;
  v.map = std::make_shared<const Map>(std::move(map));
  return v;
}

Value Value::of_sparse(SparseTensor sparse) {
  Value v;
  v.kind = Kind::sparse;
  v.sparse = std::make_shared<const SparseTensor>(std::move(sparse));
  return v;
}

Value Value::of_optional(Value inner) {
  Value v;
  v.kind = Kind::optional;
  v.optional = std::make_shared<const Value>(std::move(inner));
  return v;
}

Value Value::empty_optional() {
  Value v;
  v.kind = Kind::optional;
  return v;
}

std::string_view kind_name(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::none: return "nothing";
    case Value::Kind::tensor: return "tensor";
    case Value::Kind::sequence: return "sequence";
    case Value::Kind::map: return "map";
    case Value::Kind::optional: return "optional";
    case Value::Kind::sparse: return "sparse tensor";
  }
  return "?";
}

}  // namespace sx
