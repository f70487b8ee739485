// SPDX-License-Identifier: Apache-2.0
// Values in files of their own (TensorProto, SequenceProto, MapProto, OptionalProto, SparseTensorProto), as
// the official tests keep their inputs and outputs: test_data_set_0/input_0.pb.
#pragma once
#include <string>

#include "base/mapped_file.h"
#include "base/result.h"
#include "onnx/model.h"
#include "onnx/tensor_data.h"
#include "tensor/value.h"

namespace sx::onnx {

struct NamedValue {
  std::string name;  // may be empty
  Value value;
};

// The file does not say which message it holds; the model's type does.
Value::Kind value_kind(const TypeProto& type);
Result<NamedValue> read_value_pb(const std::string& path, Value::Kind kind = Value::Kind::tensor);
Result<NamedValue> parse_value_pb(std::shared_ptr<const MappedFile> file, Value::Kind kind);
Status write_value_pb(const std::string& path, const Value& value, const std::string& name = {});
Result<std::string> value_to_pb(const Value& value, const std::string& name = {});

Result<Value> to_value(const SequenceProto& sequence, const DataSource& source);
Result<Value> to_value(const MapProto& map, const DataSource& source);
Result<Value> to_value(const OptionalProto& optional, const DataSource& source);

}  // namespace sx::onnx
