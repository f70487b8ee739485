// SPDX-License-Identifier: Apache-2.0
#include "onnx/model.h"

namespace sx::onnx {

AttributeType AttributeProto::kind() const {
  if (type.present && type.value != 0) return AttributeType(type.value);
  if (f.present) return AttributeType::f;
  if (i.present) return AttributeType::i;
  if (s.present()) return AttributeType::s;
  if (t) return AttributeType::t;
  if (g) return AttributeType::g;
  if (sparse_tensor) return AttributeType::sparse_tensor;
  if (tp) return AttributeType::tp;
  if (!floats.empty()) return AttributeType::floats;
  if (!ints.empty()) return AttributeType::ints;
  if (!strings.empty()) return AttributeType::strings;
  if (!tensors.empty()) return AttributeType::tensors;
  if (!graphs.empty()) return AttributeType::graphs;
  if (!sparse_tensors.empty()) return AttributeType::sparse_tensors;
  if (!type_protos.empty()) return AttributeType::type_protos;
  return AttributeType::undefined;
}

std::string_view attribute_type_name(AttributeType type) {
  switch (type) {
    case AttributeType::undefined: return "UNDEFINED";
    case AttributeType::f: return "FLOAT";
    case AttributeType::i: return "INT";
    case AttributeType::s: return "STRING";
    case AttributeType::t: return "TENSOR";
    case AttributeType::g: return "GRAPH";
    case AttributeType::floats: return "FLOATS";
    case AttributeType::ints: return "INTS";
    case AttributeType::strings: return "STRINGS";
    case AttributeType::tensors: return "TENSORS";
    case AttributeType::graphs: return "GRAPHS";
    case AttributeType::sparse_tensor: return "SPARSE_TENSOR";
    case AttributeType::sparse_tensors: return "SPARSE_TENSORS";
    case AttributeType::tp: return "TYPE_PROTO";
    case AttributeType::type_protos: return "TYPE_PROTOS";
  }
  return "unknown";
}

std::string_view canonical_domain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

const AttributeProto* find_attribute(const NodeProto& node, std::string_view name) {
  for (const AttributeProto& a : node.attribute) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

const OperatorSetIdProto* find_opset(const std::vector<OperatorSetIdProto>& imports,
                                     std::string_view domain) {
  for (const OperatorSetIdProto& o : imports) {
    if (canonical_domain(o.domain) == canonical_domain(domain)) return &o;
  }
  return nullptr;
}

const StringStringEntryProto* find_entry(const std::vector<StringStringEntryProto>& entries,
                                         std::string_view key) {
  for (const StringStringEntryProto& e : entries) {
    if (e.key == key) return &e;
  }
  return nullptr;
}

}  // namespace sx::onnx
