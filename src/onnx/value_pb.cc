// SPDX-License-Identifier: Apache-2.0
#include "onnx/value_pb.h"

#include <cstring>

#include "base/format.h"
#include "base/output_file.h"
#include "onnx/display.h"
#include "onnx/read.h"
#include "onnx/write.h"

namespace sx::onnx {
namespace {

using Kind = Value::Kind;

std::string_view kind_of(int32_t elem_type) {
  static constexpr std::string_view kNames[] = {"undefined", "tensor", "sparse tensor",
                                                "sequence",  "map",    "optional"};
  return elem_type >= 0 && elem_type <= 5 ? kNames[elem_type] : "unknown";
}

Result<Value> of_tensor(const TensorProto& t, const DataSource& source) {
  SX_ASSIGN(Tensor tensor, to_tensor(t, source));
  return Value(std::move(tensor));
}

Result<Value> of_sparse(const SparseTensorProto& t, const DataSource& source) {
  SX_ASSIGN(SparseTensor tensor, to_sparse_tensor(t, source));
  return Value::of_sparse(std::move(tensor));
}

template <class M, class F>
Status append(const std::vector<M>& from, std::vector<Value>& to, F&& convert) {
  for (size_t i = 0; i < from.size(); ++i) {
    Result<Value> v = convert(from[i]);
    if (!v.ok()) return std::move(v).in(format("element {}", i)).status();
    to.push_back(std::move(v).value());
  }
  return {};
}

ElementKind element_kind(const Value& v) {
  switch (v.kind) {
    case Kind::tensor: return ElementKind::tensor;
    case Kind::sparse: return ElementKind::sparse_tensor;
    case Kind::sequence: return ElementKind::sequence;
    case Kind::map: return ElementKind::map;
    case Kind::optional: return ElementKind::optional;
    case Kind::none: break;
  }
  return ElementKind::undefined;
}

Result<SequenceProto> from_sequence(const std::vector<Value>& items);

Result<MapProto> from_map(const Map& map) {
  MapProto m;
  m.key_type = int32_t(map.key_type);
  if (map.key_type == DType::string) {
    for (const std::string& k : map.string_keys) m.string_keys.emplace_back(k);
  } else {
    m.keys.assign(map.int_keys);
  }
  SX_ASSIGN(m.values, from_sequence(map.values));
  return m;
}

Result<OptionalProto> from_optional(const Value& v) {
  OptionalProto o;
  if (!v.optional) return o;
  const Value& inner = *v.optional;
  o.elem_type = int32_t(element_kind(inner));
  switch (inner.kind) {
    case Kind::tensor: o.tensor_value = from_tensor(inner.tensor); break;
    case Kind::sparse: o.sparse_tensor_value = from_sparse_tensor(*inner.sparse); break;
    case Kind::sequence: {
      SX_ASSIGN(o.sequence_value, from_sequence(inner.sequence->items));
      break;
    }
    case Kind::map: {
      SX_ASSIGN(o.map_value, from_map(*inner.map));
      break;
    }
    case Kind::optional: {
      SX_ASSIGN(o.optional_value, from_optional(inner));
      break;
    }
    case Kind::none: return error(Code::invalid_argument, "an optional holds nothing that can be written");
  }
  return o;
}

Result<SequenceProto> from_sequence(const std::vector<Value>& items) {
  SequenceProto s;
  const ElementKind kind = items.empty() ? ElementKind::tensor : element_kind(items[0]);
  s.elem_type = int32_t(kind);
  for (const Value& v : items) {
    if (element_kind(v) != kind || kind == ElementKind::undefined) {
      return error(Code::invalid_argument, "a sequence holds a {} beside a {}", kind_name(v.kind),
                   kind_of(int32_t(kind)));
    }
    switch (kind) {
      case ElementKind::tensor: s.tensor_values.push_back(from_tensor(v.tensor)); break;
      case ElementKind::sparse_tensor: s.sparse_tensor_values.push_back(from_sparse_tensor(*v.sparse)); break;
      case ElementKind::sequence: {
        SX_ASSIGN(SequenceProto inner, from_sequence(v.sequence->items));
        s.sequence_values.push_back(std::move(inner));
        break;
      }
      case ElementKind::map: {
        SX_ASSIGN(MapProto inner, from_map(*v.map));
        s.map_values.push_back(std::move(inner));
        break;
      }
      case ElementKind::optional: {
        SX_ASSIGN(OptionalProto inner, from_optional(v));
        s.optional_values.push_back(std::move(inner));
        break;
      }
      case ElementKind::undefined: break;
    }
  }
  return s;
}

template <class M>
std::string named_bytes(M m, const std::string& name) {
  if (!name.empty()) m.name = name;
  return message_bytes(m);
}

}  // namespace

Kind value_kind(const TypeProto& type) {
  if (type.tensor_type) return Kind::tensor;
  if (type.sequence_type) return Kind::sequence;
  if (type.map_type) return Kind::map;
  if (type.optional_type) return Kind::optional;
  if (type.sparse_tensor_type) return Kind::sparse;
  return Kind::none;
}

Result<Value> to_value(const SequenceProto& s, const DataSource& source) {
  std::vector<Value> items;
  switch (ElementKind(s.elem_type.value)) {
    case ElementKind::tensor:
      SX_TRY(append(s.tensor_values, items, [&](const auto& t) { return of_tensor(t, source); }));
      break;
    case ElementKind::sparse_tensor:
      SX_TRY(append(s.sparse_tensor_values, items, [&](const auto& t) { return of_sparse(t, source); }));
      break;
    case ElementKind::sequence:
      SX_TRY(append(s.sequence_values, items, [&](const auto& t) { return to_value(t, source); }));
      break;
    case ElementKind::map:
      SX_TRY(append(s.map_values, items, [&](const auto& t) { return to_value(t, source); }));
      break;
    case ElementKind::optional:
      SX_TRY(append(s.optional_values, items, [&](const auto& t) { return to_value(t, source); }));
      break;
    default:
      // A sequence without an element type is right only when it is empty.
      if (!s.tensor_values.empty() || !s.sparse_tensor_values.empty() || !s.sequence_values.empty() ||
          !s.map_values.empty() || !s.optional_values.empty() || s.elem_type.value != 0) {
        return error(Code::invalid_model, "the sequence has elem_type {}, expected 1 to 5",
                     s.elem_type.value);
      }
  }
  return Value::of_sequence(std::move(items));
}

namespace {

// onnxruntime writes all values of a map as one vector with an element for each key.
Status split_values(size_t keys, std::vector<Value>& values) {
  if (!values[0].is_tensor()) return {};
  const Tensor all = values[0].tensor;
  if (all.type() == DType::string || dtype_bits(all.type()) % 8 != 0 || size_t(all.count()) != keys)
    return {};
  values.clear();
  for (size_t i = 0; i < keys; ++i) {
    SX_ASSIGN(Tensor one, Tensor::allocate(all.type(), {}));
    std::memcpy(one.mutable_data(), static_cast<const char*>(all.data()) + i * one.bytes(), one.bytes());
    values.emplace_back(std::move(one));
  }
  return {};
}

}  // namespace

Result<Value> to_value(const MapProto& m, const DataSource& source) {
  Map map;
  if (DType(m.key_type.value) != DType::string && !dtype_is_integer(DType(m.key_type.value))) {
    return error(Code::invalid_model, "the map has key_type {}, expected an integer type or strings",
                 m.key_type.value);
  }
  map.key_type = DType(m.key_type.value);
  if (map.key_type == DType::string) {
    for (const Bytes& k : m.string_keys) map.string_keys.push_back(k.str());
  } else {
    map.int_keys = m.keys.values();
  }
  if (m.values) {
    SX_ASSIGN(Value values, to_value(*m.values, source));
    map.values = values.sequence->items;
  }
  const size_t keys = map.key_type == DType::string ? map.string_keys.size() : map.int_keys.size();
  if (keys != 1 && map.values.size() == 1) SX_TRY(split_values(keys, map.values));
  if (keys != map.values.size()) {
    return error(Code::invalid_model, "the map has {} keys and {} values", keys, map.values.size());
  }
  return Value::of_map(std::move(map));
}

Result<Value> to_value(const OptionalProto& o, const DataSource& source) {
  const auto full = [](Result<Value> v) -> Result<Value> {
    if (!v.ok()) return v;
    return Value::of_optional(std::move(v).value());
  };
  if (o.tensor_value) return full(of_tensor(*o.tensor_value, source));
  if (o.sparse_tensor_value) return full(of_sparse(*o.sparse_tensor_value, source));
  if (o.sequence_value) return full(to_value(*o.sequence_value, source));
  if (o.map_value) return full(to_value(*o.map_value, source));
  if (o.optional_value) return full(to_value(*o.optional_value, source));
  return Value::empty_optional();
}

Result<NamedValue> parse_value_pb(std::shared_ptr<const MappedFile> file, Kind kind) {
  const std::span<const uint8_t> bytes = file->bytes();
  const DataSource source{file};
  const auto parse = [&]() -> Result<NamedValue> {
    const auto named = [&](const auto& m, Result<Value> v) -> Result<NamedValue> {
      if (!v.ok()) return std::move(v).status();
      return NamedValue{m.name.str(), std::move(v).value()};
    };
    switch (kind) {
      case Kind::tensor: {
        SX_ASSIGN(const TensorProto m, read_message<TensorProto>(bytes));
        return named(m, of_tensor(m, source));
      }
      case Kind::sequence: {
        SX_ASSIGN(const SequenceProto m, read_message<SequenceProto>(bytes));
        return named(m, to_value(m, source));
      }
      case Kind::map: {
        SX_ASSIGN(const MapProto m, read_message<MapProto>(bytes));
        return named(m, to_value(m, source));
      }
      case Kind::optional: {
        SX_ASSIGN(const OptionalProto m, read_message<OptionalProto>(bytes));
        return named(m, to_value(m, source));
      }
      case Kind::sparse: {
        SX_ASSIGN(const SparseTensorProto m, read_message<SparseTensorProto>(bytes));
        SX_ASSIGN(Value v, of_sparse(m, source));
        return NamedValue{m.values->name.str(), std::move(v)};
      }
      case Kind::none: break;
    }
    return error(Code::invalid_argument, "a value of no kind cannot be read");
  };
  return parse().in(file->path());
}

Result<NamedValue> read_value_pb(const std::string& path, Kind kind) {
  SX_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  return parse_value_pb(std::move(file), kind);
}

Result<std::string> value_to_pb(const Value& value, const std::string& name) {
  switch (value.kind) {
    case Kind::tensor: return message_bytes(from_tensor(value.tensor, name));
    case Kind::sparse: return message_bytes(from_sparse_tensor(*value.sparse, name));
    case Kind::sequence: {
      SX_ASSIGN(SequenceProto m, from_sequence(value.sequence->items));
      return named_bytes(std::move(m), name);
    }
    case Kind::map: {
      SX_ASSIGN(MapProto m, from_map(*value.map));
      return named_bytes(std::move(m), name);
    }
    case Kind::optional: {
      SX_ASSIGN(OptionalProto m, from_optional(value));
      return named_bytes(std::move(m), name);
    }
    case Kind::none: break;
  }
  return error(Code::invalid_argument, "a value of no kind cannot be written");
}

Status write_value_pb(const std::string& path, const Value& value, const std::string& name) {
  SX_ASSIGN(const std::string bytes, value_to_pb(value, name));
  SX_ASSIGN(OutputFile file, OutputFile::create(path));
  SX_TRY(file.write(std::string_view(bytes)));
  return file.commit();
}

}  // namespace sx::onnx
