// SPDX-License-Identifier: Apache-2.0
// Attributes of a node: plain ones, graphs, and those that a function takes from its call.
#include <utility>

#include "base/format.h"
#include "convert/constants.h"
#include "convert/import.h"
#include "convert/types.h"

namespace sx::convert {
namespace {

template <class T, class List, class Read>
Result<AttrValue> read_list(const List& list, Read read) {
  std::vector<T> values;
  values.reserve(list.size());
  for (const auto& item : list) {
    SX_ASSIGN(T value, read(item));
    values.push_back(std::move(value));
  }
  return AttrValue(std::move(values));
}

const onnx::AttributeProto* find_default(const onnx::FunctionProto& function, std::string_view name) {
  for (const onnx::AttributeProto& a : function.attribute_proto) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

}  // namespace

Result<AttrValue> Importer::import_graphs(const onnx::AttributeProto& attr, const Scope& scope,
                                          std::span<const Type> seeds) {
  if (attr.kind() == onnx::AttributeType::g) {
    if (!attr.g) return error(Code::invalid_model, "the graph is missing");
    SX_ASSIGN(const BodyRef body, import_body(*attr.g, scope, seeds));
    return AttrValue(body);
  }
  return read_list<BodyRef>(attr.graphs,
                            [&](const onnx::GraphProto& g) { return import_body(g, scope, seeds); });
}

Result<AttrValue> Importer::import_attr(const onnx::AttributeProto& attr, const Scope& scope,
                                        std::span<const Type> seeds) {
  using Sparse = std::shared_ptr<const SparseTensor>;
  auto tensor = [&](const onnx::TensorProto& t) { return onnx::to_tensor(t, source_); };
  auto type = [&](const onnx::TypeProto& t) { return to_type(t, {graph_.pool()}); };
  auto sparse = [&](const onnx::SparseTensorProto& s) -> Result<Sparse> {
    SX_ASSIGN(SparseTensor read, onnx::to_sparse_tensor(s, source_));
    return Sparse(std::make_shared<const SparseTensor>(std::move(read)));
  };
  auto wrap = [](auto result) -> Result<AttrValue> {
    if (!result.ok()) return std::move(result).status();
    return AttrValue(std::move(*result));
  };
  using Kind = onnx::AttributeType;
  switch (attr.kind()) {
    case Kind::f: return AttrValue(float(attr.f));
    case Kind::i: return AttrValue(int64_t(attr.i));
    case Kind::s: return AttrValue(attr.s.str());
    case Kind::floats: return AttrValue(attr.floats.values());  // the reader has checked them
    case Kind::ints: return AttrValue(attr.ints.values());
    case Kind::strings:
      return read_list<std::string>(attr.strings,
                                    [](const onnx::Bytes& b) -> Result<std::string> { return b.str(); });
    case Kind::t:
      if (!attr.t) return error(Code::invalid_model, "the tensor is missing");
      return wrap(tensor(*attr.t));
    case Kind::tensors: return read_list<Tensor>(attr.tensors, tensor);
    case Kind::g:
    case Kind::graphs: return import_graphs(attr, scope, seeds);
    case Kind::tp:
      if (!attr.tp) return error(Code::invalid_model, "the type is missing");
      return wrap(type(*attr.tp));
    case Kind::type_protos: return read_list<Type>(attr.type_protos, type);
    case Kind::sparse_tensor:
      if (!attr.sparse_tensor) return error(Code::invalid_model, "the sparse tensor is missing");
      return wrap(sparse(*attr.sparse_tensor));
    case Kind::sparse_tensors: return read_list<Sparse>(attr.sparse_tensors, sparse);
    case Kind::undefined: break;
  }
  return error(Code::invalid_model, "it has no value");
}

Result<Attrs> Importer::import_attrs(const Proto& node, const Scope& scope,
                                     const std::vector<ValueId>& inputs) {
  Attrs attrs;
  std::vector<Type> seeds;
  for (const onnx::AttributeProto& written : node.attribute) {
    const onnx::AttributeProto* attr = &written;
    const Scope* where = &scope;
    // A reference names an attribute of the call, which may itself be a reference in the caller's own call.
    while (attr && !attr->ref_attr_name.empty()) {
      if (!where->call) {
        return error(Code::invalid_model, "attribute '{}' refers to '{}', but this is no function",
                     written.name.view(), attr->ref_attr_name.view());
      }
      const std::string_view name = attr->ref_attr_name;
      const Call& call = *where->call;
      attr = onnx::find_attribute(call.node, name);
      if (attr)
        where = &call.caller;
      else
        attr = find_default(call.function, name);
    }
    if (!attr) continue;  // the call leaves it out
    if (seeds.empty() && (attr->g || !attr->graphs.empty())) seeds = seed_types(node, inputs);
    const bool outside = std::exchange(branch_, node.op_type == "If");
    auto value = import_attr(*attr, *where, seeds);
    branch_ = outside;
    if (!value.ok() && value.status().message().empty())
      return value.status();  // a body's problems are reported
    if (!value.ok()) return std::move(value).in(format("attribute '{}'", written.name.view())).status();
    if (attrs.has(written.name.view())) {
      return error(Code::invalid_model, "attribute '{}' is given twice", written.name.view());
    }
    attrs.set(written.name.view(), std::move(*value));
  }
  return attrs;
}

// What the inputs of a body are where the file does not say: enough to choose version steps by.
std::vector<Type> Importer::seed_types(const Proto& node, const std::vector<ValueId>& inputs) const {
  auto type = [&](size_t i) {
    return i < inputs.size() && inputs[i] != kNoValue ? graph_.value(inputs[i]).type : Type();
  };
  auto without_shape = [](Type t) {
    t.shape = {};
    return t;
  };
  std::vector<Type> seeds;
  if (node.op_type == "Loop") {
    seeds = {Type::tensor(DType::i64, Shape(std::vector<Dim>())),
             Type::tensor(DType::boolean, Shape(std::vector<Dim>()))};
    for (size_t i = 2; i < inputs.size(); ++i) seeds.push_back(without_shape(type(i)));
  } else if (node.op_type == "Scan") {
    for (size_t i = 0; i < inputs.size(); ++i) seeds.push_back(without_shape(type(i)));
  } else if (node.op_type == "SequenceMap") {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Type t = type(i);
      seeds.push_back(t.kind == Value::Kind::sequence && t.inner ? *t.inner : t);
    }
  }
  return seeds;
}

}  // namespace sx::convert
