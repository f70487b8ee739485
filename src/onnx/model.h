// SPDX-License-Identifier: Apache-2.0
// Model: an ONNX file as a tree of plain values, one struct for each message of onnx.proto (IR 14) with its
// field names. Reading copies nothing: texts and payloads point into the file. Change any field by assigning
// to it; the writer compares with the original bytes and changes only what differs.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/field.h"

namespace sx {
class MappedFile;
}

namespace sx::onnx {

struct AttributeProto;
struct GraphProto;
struct TypeProto;
class ExternalFiles;

struct StringStringEntryProto : Message {
  Text key, value;
};

struct OperatorSetIdProto : Message {
  Text domain;
  Opt<int64_t> version;
};

struct SegmentProto : Message {
  Opt<int64_t> begin, end;
};

enum class DataLocation : int32_t { in_message = 0, external = 1 };

struct TensorProto : Message {
  Numbers<int64_t> dims;
  Opt<int32_t> data_type;  // the numbers of sx::DType
  Box<SegmentProto> segment;
  Numbers<float> float_data;
  Numbers<int32_t> int32_data;
  std::vector<Bytes> string_data;
  Numbers<int64_t> int64_data;
  Text name;
  Bytes raw_data;
  Numbers<double> double_data;
  Numbers<uint64_t> uint64_data;
  Text doc_string;
  std::vector<StringStringEntryProto> external_data;
  Opt<int32_t> data_location;
  std::vector<StringStringEntryProto> metadata_props;

  bool is_external() const { return data_location == int32_t(DataLocation::external); }
};

struct SparseTensorProto : Message {
  Box<TensorProto> values, indices;  // the name of a sparse initializer is the name of its values
  Numbers<int64_t> dims;
};

struct DimensionProto : Message {  // at most one of dim_value and dim_param is present
  Opt<int64_t> dim_value;
  Text dim_param;
  Text denotation;
};

struct TensorShapeProto : Message {
  std::vector<DimensionProto> dim;
};

struct TensorTypeProto : Message {  // dense or sparse
  Opt<int32_t> elem_type;
  Box<TensorShapeProto> shape;
};

struct SequenceTypeProto : Message {
  Box<TypeProto> elem_type;
};

struct MapTypeProto : Message {
  Opt<int32_t> key_type;
  Box<TypeProto> value_type;
};

struct OptionalTypeProto : Message {
  Box<TypeProto> elem_type;
};

struct OpaqueTypeProto : Message {
  Text domain, name;
};

struct TypeProto : Message {  // at most one of the *_type fields is present
  Box<TensorTypeProto> tensor_type;
  Box<SequenceTypeProto> sequence_type;
  Box<MapTypeProto> map_type;
  Text denotation;
  Box<OpaqueTypeProto> opaque_type;
  Box<TensorTypeProto> sparse_tensor_type;
  Box<OptionalTypeProto> optional_type;
};

struct ValueInfoProto : Message {
  Text name;
  Box<TypeProto> type;
  Text doc_string;
  std::vector<StringStringEntryProto> metadata_props;
};

enum class AttributeType : int32_t {
  undefined = 0,
  f = 1,
  i = 2,
  s = 3,
  t = 4,
  g = 5,
  floats = 6,
  ints = 7,
  strings = 8,
  tensors = 9,
  graphs = 10,
  sparse_tensor = 11,
  sparse_tensors = 12,
  tp = 13,
  type_protos = 14,
};

struct AttributeProto : Message {
  Text name;
  Opt<float> f;
  Opt<int64_t> i;
  Bytes s;
  Box<TensorProto> t;
  Box<GraphProto> g;
  Numbers<float> floats;
  Numbers<int64_t> ints;
  std::vector<Bytes> strings;
  std::vector<TensorProto> tensors;
  std::vector<GraphProto> graphs;
  Text doc_string;
  Box<TypeProto> tp;
  std::vector<TypeProto> type_protos;
  Opt<int32_t> type;  // the numbers of AttributeType; files before IR 2 leave it out: ask kind()
  Text ref_attr_name;
  Box<SparseTensorProto> sparse_tensor;
  std::vector<SparseTensorProto> sparse_tensors;

  AttributeType kind() const;  // `type`, or what the fields that are present say
};
std::string_view attribute_type_name(AttributeType type);  // "FLOAT", "INTS"

struct IntIntListEntryProto : Message {
  Opt<int64_t> key;
  Numbers<int64_t> value;
};

struct SimpleShardedDimProto : Message {  // at most one of dim_value and dim_param is present
  Opt<int64_t> dim_value;
  Text dim_param;
  Opt<int64_t> num_shards;
};

struct ShardedDimProto : Message {
  Opt<int64_t> axis;
  std::vector<SimpleShardedDimProto> simple_sharding;
};

struct ShardingSpecProto : Message {
  Text tensor_name;
  Numbers<int64_t> device;
  std::vector<IntIntListEntryProto> index_to_device_group_map;
  std::vector<ShardedDimProto> sharded_dim;
};

struct NodeDeviceConfigurationProto : Message {
  Text configuration_id;
  std::vector<ShardingSpecProto> sharding_spec;
  Opt<int32_t> pipeline_stage;
};

struct NodeProto : Message {
  std::vector<Text> input, output;
  Text name, op_type;
  std::vector<AttributeProto> attribute;
  Text doc_string, domain, overload;
  std::vector<StringStringEntryProto> metadata_props;
  std::vector<NodeDeviceConfigurationProto> device_configurations;
};

struct TensorAnnotation : Message {
  Text tensor_name;
  std::vector<StringStringEntryProto> quant_parameter_tensor_names;
};

struct GraphProto : Message {
  std::vector<NodeProto> node;
  Text name;
  std::vector<TensorProto> initializer;
  Text doc_string;
  std::vector<ValueInfoProto> input, output, value_info;
  std::vector<TensorAnnotation> quantization_annotation;
  std::vector<SparseTensorProto> sparse_initializer;
  std::vector<StringStringEntryProto> metadata_props;
};

struct TrainingInfoProto : Message {
  Box<GraphProto> initialization, algorithm;
  std::vector<StringStringEntryProto> initialization_binding, update_binding;
};

struct FunctionProto : Message {
  Text name;
  std::vector<Text> input, output, attribute;
  std::vector<NodeProto> node;
  Text doc_string;
  std::vector<OperatorSetIdProto> opset_import;
  Text domain;
  std::vector<AttributeProto> attribute_proto;  // attributes that have a default
  std::vector<ValueInfoProto> value_info;
  Text overload;
  std::vector<StringStringEntryProto> metadata_props;
};

struct DeviceConfigurationProto : Message {
  Text name;
  Opt<int32_t> num_devices;
  std::vector<Text> device;
};

struct ModelProto : Message {
  Opt<int64_t> ir_version;
  Text producer_name, producer_version, domain;
  Opt<int64_t> model_version;
  Text doc_string;
  Box<GraphProto> graph;
  std::vector<OperatorSetIdProto> opset_import;
  std::vector<StringStringEntryProto> metadata_props;
  std::vector<TrainingInfoProto> training_info;
  std::vector<FunctionProto> functions;
  std::vector<DeviceConfigurationProto> configuration;
};

// The root message, and what keeps the bytes alive that it points into.
struct Model : ModelProto {
  std::shared_ptr<const MappedFile> file;   // null for a model made in memory
  std::shared_ptr<ExternalFiles> external;  // the data files beside it; null: there is no folder to look in
  std::vector<std::shared_ptr<const void>> keep;  // other memory that fields borrow from
};

// Lookups that most users want; null if there is none. The first match wins.
const AttributeProto* find_attribute(const NodeProto& node, std::string_view name);
const OperatorSetIdProto* find_opset(const std::vector<OperatorSetIdProto>& imports, std::string_view domain);
const StringStringEntryProto* find_entry(const std::vector<StringStringEntryProto>& entries,
                                         std::string_view key);
// "ai.onnx" and "" are the same domain.
std::string_view canonical_domain(std::string_view domain);

// The messages of onnx-data.proto: values in files of their own, as in test_data_set_0/input_0.pb.
struct SequenceProto;
struct MapProto;
struct OptionalProto;

enum class ElementKind : int32_t {
  undefined = 0,
  tensor = 1,
  sparse_tensor = 2,
  sequence = 3,
  map = 4,
  optional = 5
};

struct SequenceProto : Message {
  Text name;
  Opt<int32_t> elem_type;  // ElementKind
  std::vector<TensorProto> tensor_values;
  std::vector<SparseTensorProto> sparse_tensor_values;
  std::vector<SequenceProto> sequence_values;
  std::vector<MapProto> map_values;
  std::vector<OptionalProto> optional_values;
};

struct MapProto : Message {
  Text name;
  Opt<int32_t> key_type;  // the numbers of sx::DType
  Numbers<int64_t> keys;
  std::vector<Bytes> string_keys;
  Box<SequenceProto> values;
};

struct OptionalProto : Message {
  Text name;
  Opt<int32_t> elem_type;  // ElementKind
  Box<TensorProto> tensor_value;
  Box<SparseTensorProto> sparse_tensor_value;
  Box<SequenceProto> sequence_value;
  Box<MapProto> map_value;
  Box<OptionalProto> optional_value;
};

}  // namespace sx::onnx
