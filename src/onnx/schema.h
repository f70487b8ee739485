// SPDX-License-Identifier: Apache-2.0
// The field numbers of onnx.proto and onnx-data.proto (onnx 1.23.2, IR 14), once, for everything that walks
// over messages: Schema<M>::fields(visitor, message) calls visitor(number, name, field[, kPacked]) for each
// field in the order of numbers until one returns true. Internal to src/onnx.
#pragma once
#include <concepts>
#include <cstdint>

#include "onnx/model.h"

namespace sx::onnx {

struct PackedTag {};
// The payload of a tensor: numbers that are packed when they are new, and checked only when they are used.
inline constexpr PackedTag kPacked;

template <class M>
struct Schema;

// Records with the same key supersede each other: those of one field, and those of the members of one oneof.
template <class M>
constexpr uint32_t field_key(uint32_t number) {
  if constexpr (std::same_as<M, DimensionProto> || std::same_as<M, SimpleShardedDimProto>) {
    return number == 2 ? 1 : number;
  } else if constexpr (std::same_as<M, TypeProto>) {
    return number == 4 || number == 5 || (number >= 7 && number <= 9) ? 1 : number;
  }
  return number;
}

#define SX_SCHEMA(M, ...)                    \
  template <>                                \
  struct Schema<M> {                         \
    static constexpr const char* kName = #M; \
    template <class V, class Msg>            \
    static bool fields(V&& v, Msg& m) {      \
      return __VA_ARGS__;                    \
    }                                        \
  };

SX_SCHEMA(StringStringEntryProto, v(1, "key", m.key) || v(2, "value", m.value))
SX_SCHEMA(OperatorSetIdProto, v(1, "domain", m.domain) || v(2, "version", m.version))
SX_SCHEMA(SegmentProto, v(1, "begin", m.begin) || v(2, "end", m.end))
SX_SCHEMA(TensorProto,
          v(1, "dims", m.dims) || v(2, "data_type", m.data_type) || v(3, "segment", m.segment) ||
              v(4, "float_data", m.float_data, kPacked) || v(5, "int32_data", m.int32_data, kPacked) ||
              v(6, "string_data", m.string_data) || v(7, "int64_data", m.int64_data, kPacked) ||
              v(8, "name", m.name) || v(9, "raw_data", m.raw_data) ||
              v(10, "double_data", m.double_data, kPacked) || v(11, "uint64_data", m.uint64_data, kPacked) ||
              v(12, "doc_string", m.doc_string) || v(13, "external_data", m.external_data) ||
              v(14, "data_location", m.data_location) || v(16, "metadata_props", m.metadata_props))
SX_SCHEMA(SparseTensorProto, v(1, "values", m.values) || v(2, "indices", m.indices) || v(3, "dims", m.dims))
SX_SCHEMA(DimensionProto, v(1, "dim_value", m.dim_value) || v(2, "dim_param", m.dim_param) ||
                              v(3, "denotation", m.denotation))
SX_SCHEMA(TensorShapeProto, v(1, "dim", m.dim))
SX_SCHEMA(TensorTypeProto, v(1, "elem_type", m.elem_type) || v(2, "shape", m.shape))
SX_SCHEMA(SequenceTypeProto, v(1, "elem_type", m.elem_type))
SX_SCHEMA(MapTypeProto, v(1, "key_type", m.key_type) || v(2, "value_type", m.value_type))
SX_SCHEMA(OptionalTypeProto, v(1, "elem_type", m.elem_type))
SX_SCHEMA(OpaqueTypeProto, v(1, "domain", m.domain) || v(2, "name", m.name))
SX_SCHEMA(TypeProto, v(1, "tensor_type", m.tensor_type) || v(4, "sequence_type", m.sequence_type) ||
                         v(5, "map_type", m.map_type) || v(6, "denotation", m.denotation) ||
                         v(7, "opaque_type", m.opaque_type) ||
                         v(8, "sparse_tensor_type", m.sparse_tensor_type) ||
                         v(9, "optional_type", m.optional_type))
SX_SCHEMA(ValueInfoProto, v(1, "name", m.name) || v(2, "type", m.type) || v(3, "doc_string", m.doc_string) ||
                              v(4, "metadata_props", m.metadata_props))
SX_SCHEMA(AttributeProto,
          v(1, "name", m.name) || v(2, "f", m.f) || v(3, "i", m.i) || v(4, "s", m.s) || v(5, "t", m.t) ||
              v(6, "g", m.g) || v(7, "floats", m.floats) || v(8, "ints", m.ints) ||
              v(9, "strings", m.strings) || v(10, "tensors", m.tensors) || v(11, "graphs", m.graphs) ||
              v(13, "doc_string", m.doc_string) || v(14, "tp", m.tp) || v(15, "type_protos", m.type_protos) ||
              v(20, "type", m.type) || v(21, "ref_attr_name", m.ref_attr_name) ||
              v(22, "sparse_tensor", m.sparse_tensor) || v(23, "sparse_tensors", m.sparse_tensors))
SX_SCHEMA(IntIntListEntryProto, v(1, "key", m.key) || v(2, "value", m.value))
SX_SCHEMA(SimpleShardedDimProto, v(1, "dim_value", m.dim_value) || v(2, "dim_param", m.dim_param) ||
                                     v(3, "num_shards", m.num_shards))
SX_SCHEMA(ShardedDimProto, v(1, "axis", m.axis) || v(2, "simple_sharding", m.simple_sharding))
SX_SCHEMA(ShardingSpecProto, v(1, "tensor_name", m.tensor_name) || v(2, "device", m.device) ||
                                 v(3, "index_to_device_group_map", m.index_to_device_group_map) ||
                                 v(4, "sharded_dim", m.sharded_dim))
SX_SCHEMA(NodeDeviceConfigurationProto, v(1, "configuration_id", m.configuration_id) ||
                                            v(2, "sharding_spec", m.sharding_spec) ||
                                            v(3, "pipeline_stage", m.pipeline_stage))
SX_SCHEMA(NodeProto, v(1, "input", m.input) || v(2, "output", m.output) || v(3, "name", m.name) ||
                         v(4, "op_type", m.op_type) || v(5, "attribute", m.attribute) ||
                         v(6, "doc_string", m.doc_string) || v(7, "domain", m.domain) ||
                         v(8, "overload", m.overload) || v(9, "metadata_props", m.metadata_props) ||
                         v(10, "device_configurations", m.device_configurations))
SX_SCHEMA(TensorAnnotation, v(1, "tensor_name", m.tensor_name) ||
                                v(2, "quant_parameter_tensor_names", m.quant_parameter_tensor_names))
SX_SCHEMA(GraphProto, v(1, "node", m.node) || v(2, "name", m.name) || v(5, "initializer", m.initializer) ||
                          v(10, "doc_string", m.doc_string) || v(11, "input", m.input) ||
                          v(12, "output", m.output) || v(13, "value_info", m.value_info) ||
                          v(14, "quantization_annotation", m.quantization_annotation) ||
                          v(15, "sparse_initializer", m.sparse_initializer) ||
                          v(16, "metadata_props", m.metadata_props))
SX_SCHEMA(TrainingInfoProto, v(1, "initialization", m.initialization) || v(2, "algorithm", m.algorithm) ||
                                 v(3, "initialization_binding", m.initialization_binding) ||
                                 v(4, "update_binding", m.update_binding))
SX_SCHEMA(FunctionProto, v(1, "name", m.name) || v(4, "input", m.input) || v(5, "output", m.output) ||
                             v(6, "attribute", m.attribute) || v(7, "node", m.node) ||
                             v(8, "doc_string", m.doc_string) || v(9, "opset_import", m.opset_import) ||
                             v(10, "domain", m.domain) || v(11, "attribute_proto", m.attribute_proto) ||
                             v(12, "value_info", m.value_info) || v(13, "overload", m.overload) ||
                             v(14, "metadata_props", m.metadata_props))
SX_SCHEMA(DeviceConfigurationProto,
          v(1, "name", m.name) || v(2, "num_devices", m.num_devices) || v(3, "device", m.device))
SX_SCHEMA(ModelProto, v(1, "ir_version", m.ir_version) || v(2, "producer_name", m.producer_name) ||
                          v(3, "producer_version", m.producer_version) || v(4, "domain", m.domain) ||
                          v(5, "model_version", m.model_version) || v(6, "doc_string", m.doc_string) ||
                          v(7, "graph", m.graph) || v(8, "opset_import", m.opset_import) ||
                          v(14, "metadata_props", m.metadata_props) ||
                          v(20, "training_info", m.training_info) || v(25, "functions", m.functions) ||
                          v(26, "configuration", m.configuration))
SX_SCHEMA(SequenceProto, v(1, "name", m.name) || v(2, "elem_type", m.elem_type) ||
                             v(3, "tensor_values", m.tensor_values) ||
                             v(4, "sparse_tensor_values", m.sparse_tensor_values) ||
                             v(5, "sequence_values", m.sequence_values) || v(6, "map_values", m.map_values) ||
                             v(7, "optional_values", m.optional_values))
SX_SCHEMA(MapProto, v(1, "name", m.name) || v(2, "key_type", m.key_type) || v(3, "keys", m.keys) ||
                        v(4, "string_keys", m.string_keys) || v(5, "values", m.values))
SX_SCHEMA(OptionalProto, v(1, "name", m.name) || v(2, "elem_type", m.elem_type) ||
                             v(3, "tensor_value", m.tensor_value) ||
                             v(4, "sparse_tensor_value", m.sparse_tensor_value) ||
                             v(5, "sequence_value", m.sequence_value) || v(6, "map_value", m.map_value) ||
                             v(7, "optional_value", m.optional_value))
#undef SX_SCHEMA

// Every message type, for explicit instantiations: SX_EACH_MESSAGE(X) is X(StringStringEntryProto) …
// clang-format off
#define SX_EACH_MESSAGE(X)                                                                     \
  X(StringStringEntryProto)                                                                    \
  X(OperatorSetIdProto)                                                                        \
  X(SegmentProto)                                                                              \
  X(TensorProto)                                                                               \
  X(SparseTensorProto)                                                                         \
  X(DimensionProto)                                                                            \
  X(TensorShapeProto)                                                                          \
  X(TensorTypeProto)                                                                           \
  X(SequenceTypeProto) X(MapTypeProto) X(OptionalTypeProto) X(OpaqueTypeProto) X(TypeProto)    \
      X(ValueInfoProto) X(AttributeProto) X(IntIntListEntryProto) X(SimpleShardedDimProto)     \
          X(ShardedDimProto) X(ShardingSpecProto) X(NodeDeviceConfigurationProto) X(NodeProto) \
              X(TensorAnnotation) X(GraphProto) X(TrainingInfoProto) X(FunctionProto)          \
                  X(DeviceConfigurationProto) X(ModelProto) X(SequenceProto) X(MapProto) X(OptionalProto)
// clang-format on

}  // namespace sx::onnx
