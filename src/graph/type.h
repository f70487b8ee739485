// SPDX-License-Identifier: Apache-2.0
// Type: what a value in a graph is: its kind, element type and symbolic shape.
#pragma once
#include <memory>
#include <string>

#include "tensor/dim.h"
#include "tensor/dtype.h"
#include "tensor/value.h"

namespace sx {

struct Type {
  Value::Kind kind = Value::Kind::none;  // none: not known (yet)
  DType elem = DType::undefined;         // tensor, sparse
  Shape shape;                           // tensor, sparse
  DType key = DType::undefined;          // map
  std::shared_ptr<const Type> inner;     // sequence, optional: the element; map: the value

  bool known() const { return kind != Value::Kind::none; }
  bool is_tensor() const { return kind == Value::Kind::tensor; }
  static Type tensor(DType elem, Shape shape = {});
  static Type sequence(Type element);
  static Type optional(Type element);
  static Type map(DType key, Type value);
  bool operator==(const Type& o) const;
};
Type type_of(const Value& v);             // with constant shapes
std::string to_string(const Type& type);  // "float32[N, 3]", "seq(map(int64, float32))"

}  // namespace sx
