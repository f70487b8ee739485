// SPDX-License-Identifier: Apache-2.0
// Value: anything that flows along an edge of a model: a tensor, a sparse tensor, a sequence, a map, an
// optional.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace sx {

struct Value;

struct Sequence {
  std::vector<Value> items;
};

// Keys are int64 (or narrower integers held as int64) or strings; in the order they were inserted.
struct Map {
  DType key_type = DType::i64;
  std::vector<int64_t> int_keys;
  std::vector<std::string> string_keys;
  std::vector<Value> values;  // for tensors of one element this is a scalar tensor each
};

struct SparseTensor {
  Dims dims;
  Tensor values;   // [nnz]
  Tensor indices;  // i64: [nnz] linearised or [nnz, rank]
};

struct Value {
  enum class Kind : uint8_t { none, tensor, sequence, map, optional, sparse };
  Kind kind = Kind::none;
  Tensor tensor;                             // kind tensor
  std::shared_ptr<const Sequence> sequence;  // shared: copying a Value is cheap, changing one copies first
  std::shared_ptr<const Map> map;
  std::shared_ptr<const SparseTensor> sparse;
  std::shared_ptr<const Value> optional;  // kind optional: null means empty

  Value() = default;
  Value(Tensor t) : kind(Kind::tensor), tensor(std::move(t)) {}
  static Value of_sequence(std::vector<Value> items);
  static Value of_map(Map map);
  static Value of_sparse(SparseTensor sparse);
  static Value of_optional(Value inner);
  static Value empty_optional();

  bool is_tensor() const { return kind == Kind::tensor; }
};
std::string_view kind_name(Value::Kind kind);  // "tensor", "sequence" …

}  // namespace sx
