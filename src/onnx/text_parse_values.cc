// SPDX-License-Identifier: Apache-2.0
// ONNX text: types, values, tensors and attributes.
#include "base/format.h"
#include "onnx/display.h"
#include "onnx/text_parser.h"
#include "onnx/text_tensor.h"

namespace sx::onnx {

Status TextParser::shape(Box<TensorShapeProto>& s) {
  if (!lex_.eat('[')) {
    s.make();
    return {};
  }
  if (lex_.eat(']')) return {};
  do {
    DimensionProto& d = s.make().dim.emplace_back();
    if (lex_.eat('?')) continue;
    if (lex_.peek() == '"') {
      SX_TRY(text(d.dim_param, "a dimension"));
    } else if (const std::string_view id = lex_.take_identifier(); !id.empty()) {
      d.dim_param = id;
    } else {
      SX_TRY(number(d.dim_value, "a dimension: a number, a name or '?'"));
    }
  } while (lex_.eat(','));
  return lex_.expect(']', "after the dimensions");
}

Status TextParser::type(TypeProto& t) {
  Level level(*this, 2);
  SX_TRY(check_depth());
  lex_.peek();
  const size_t at = lex_.at();
  std::string word;
  SX_TRY(lex_.identifier(word, "a type"));
  if (const DType d = text_type(word); d != DType::undefined) {
    t.tensor_type.make().elem_type = int32_t(d);
    return shape(t.tensor_type->shape);
  }
  if (!is_type_word(word)) return lex_.fail_at(at, format("{} is not a type", quoted(word)));
  SX_TRY(lex_.expect('(', "after the kind of type"));
  if (word == "seq") {
    SX_TRY(type(t.sequence_type.make().elem_type.make()));
  } else if (word == "optional") {
    SX_TRY(type(t.optional_type.make().elem_type.make()));
  } else if (word == "map" || word == "sparse_tensor") {
    const size_t key_at = lex_.at();
    std::string element;
    SX_TRY(lex_.identifier(element, "an element type"));
    const DType d = text_type(element);
    if (d == DType::undefined)
      return lex_.fail_at(key_at, format("{} is not an element type", quoted(element)));
    if (word == "map") {
      t.map_type.make().key_type = int32_t(d);
      SX_TRY(lex_.expect(',', "after the type of the keys"));
      SX_TRY(type(t.map_type->value_type.make()));
    } else {
      t.sparse_tensor_type.make().elem_type = int32_t(d);
      SX_TRY(shape(t.sparse_tensor_type->shape));
    }
  } else {
    OpaqueTypeProto& o = t.opaque_type.make();
    if (lex_.eat(')')) return {};
    std::string first, part;
    SX_TRY(lex_.identifier(first, "a name"));
    while (lex_.eat('.')) {
      SX_TRY(lex_.identifier(part, "a name"));
      first += "." + part;
    }
    if (lex_.eat(',')) {
      SX_TRY(lex_.identifier(part, "a name"));
      o.domain = first;
      o.name = part;
    } else {
      o.name = first;
    }
  }
  return lex_.expect(')', "after the type");
}

Status TextParser::value(ValueInfoProto& v) {
  if (next_is_type()) SX_TRY(type(v.type.make()));
  std::string name;
  SX_TRY(lex_.name(name, "the name of a value"));
  v.name = name;
  return {};
}

Status TextParser::values(std::vector<ValueInfoProto>& all, char open, char close) {
  SX_TRY(lex_.expect(open, "before the values"));
  if (lex_.eat(close)) return {};
  do {
    SX_TRY(value(all.emplace_back()));
  } while (lex_.eat(','));
  return lex_.expect(close, "after the values");
}

// The type of a tensor gives its element type and dims, which must be numbers.
Status TextParser::tensor_of(const TypeProto& t, TensorProto& to) {
  if (!t.tensor_type) return lex_.fail("elements need a tensor type, as in float[2]");
  if (!t.tensor_type->shape) return lex_.fail("elements need a known shape, found []");
  to.data_type = t.tensor_type->elem_type.value;
  std::vector<int64_t> dims;
  for (const DimensionProto& d : t.tensor_type->shape->dim) {
    if (!d.dim_value.present) return lex_.fail("elements need dimensions that are numbers");
    dims.push_back(d.dim_value);
  }
  to.dims = dims;
  return parse_elements(lex_, to);
}

Status TextParser::initializer(const ValueInfoProto& v, std::vector<TensorProto>& to) {
  TensorProto& t = to.emplace_back();
  t.name = v.name.view();
  if (!v.type) return lex_.fail(format("the initializer {} has no type", quoted(v.name)));
  return tensor_of(*v.type, t);
}

// Names may be empty: "" or nothing before a comma.
Status TextParser::names(std::vector<Text>& all) {
  do {
    if (lex_.peek() == '"') {
      std::string s;
      SX_TRY(lex_.string(s, "a name"));
      all.emplace_back(s);
      continue;
    }
    const std::string_view id = lex_.take_identifier();
    if (id.empty() && lex_.peek() != ',') break;
    all.emplace_back(id);
  } while (lex_.eat(','));
  return {};
}

Status TextParser::typed_value(AttributeProto& a) {
  TypeProto t;
  SX_TRY(type(t));
  const char next = lex_.peek();
  if (next != '{' && next != '=' && lex_.peek_identifier().empty()) {
    a.type = int32_t(AttributeType::tp);
    a.tp = std::move(t);
    return {};
  }
  a.type = int32_t(AttributeType::t);
  TensorProto& tensor = a.t.make();
  if (const std::string_view id = lex_.take_identifier(); !id.empty()) tensor.name = id;
  lex_.eat('=');
  return tensor_of(t, tensor);
}

Status TextParser::number_value(AttributeProto& a, AttributeType expected) {
  lex_.peek();
  const size_t at = lex_.at();
  Literal l;
  SX_TRY(lex_.literal(l, "the value of an attribute"));
  if (l.kind == Literal::Kind::text) {
    a.type = int32_t(AttributeType::s);
    a.s = l.text;
    return {};
  }
  if (l.kind == Literal::Kind::integer && expected != AttributeType::f) {
    int64_t n = 0;
    if (!parse_integer(l.spelling, n)) {
      return lex_.fail_at(at, format("the number {} does not fit in 64 bits", l.spelling));
    }
    a.type = int32_t(AttributeType::i);
    a.i = n;
    return {};
  }
  float f = 0;
  if (!parse_real(l.spelling, f)) {
    return lex_.fail_at(at, format("the number {} does not fit in 32 bits of floating point", l.spelling));
  }
  a.type = int32_t(AttributeType::f);
  a.f = f;
  return {};
}

Status TextParser::single_value(AttributeProto& a, AttributeType expected) {
  const char next = lex_.peek();
  const size_t at = lex_.at();
  if (lex_.eat('@')) {
    std::string ref;
    SX_TRY(lex_.name(ref, "the name of an attribute of the function"));
    a.ref_attr_name = ref;
    if (expected != AttributeType::undefined) a.type = int32_t(expected);
    return {};
  }
  if ((is_letter(next) || next == '_') && !lex_.next_is_special_float()) {
    if (next_is_type()) {
      SX_TRY(typed_value(a));
    } else {
      a.type = int32_t(AttributeType::g);
      SX_TRY(graph(a.g.make()));
    }
  } else {
    SX_TRY(number_value(a, expected));
  }
  if (expected == AttributeType::undefined || int32_t(expected) == a.type.value) return {};
  return lex_.fail_at(at, format("expected a value of type {}, found {}", text_attribute_type(expected),
                                 text_attribute_type(AttributeType(a.type.value))));
}

AttributeType element_of(AttributeType list) {
  switch (list) {
    case AttributeType::floats: return AttributeType::f;
    case AttributeType::ints: return AttributeType::i;
    case AttributeType::strings: return AttributeType::s;
    case AttributeType::tensors: return AttributeType::t;
    case AttributeType::graphs: return AttributeType::g;
    case AttributeType::type_protos: return AttributeType::tp;
    default: return AttributeType::undefined;
  }
}

Status TextParser::list_value(AttributeProto& a) {
  const size_t at = lex_.at();
  AttributeType list(AttributeType(a.type.value));
  if (list != AttributeType::undefined && element_of(list) == AttributeType::undefined) {
    return lex_.fail_at(at, format("a value of type {} cannot be a list", text_attribute_type(list)));
  }
  std::vector<float> floats;
  std::vector<int64_t> ints;
  if (!lex_.eat(']')) {
    do {
      AttributeProto one;
      const size_t value_at = lex_.at();
      SX_TRY(single_value(one, element_of(list)));
      AttributeType found = AttributeType::undefined;
      switch (AttributeType(one.type.value)) {
        case AttributeType::f:
          found = AttributeType::floats;
          floats.push_back(one.f);
          break;
        case AttributeType::i:
          found = AttributeType::ints;
          ints.push_back(one.i);
          break;
        case AttributeType::s:
          found = AttributeType::strings;
          a.strings.push_back(std::move(one.s));
          break;
        case AttributeType::t:
          found = AttributeType::tensors;
          a.tensors.push_back(std::move(*one.t));
          break;
        case AttributeType::g:
          found = AttributeType::graphs;
          a.graphs.push_back(std::move(*one.g));
          break;
        case AttributeType::tp:
          found = AttributeType::type_protos;
          a.type_protos.push_back(std::move(*one.tp));
          break;
        default: break;
      }
      if (found == AttributeType::undefined)
        return lex_.fail_at(value_at, "this value cannot stand in a list");
      // Without a type, [1, 2.5] starts as ints and goes on as floats.
      if (list == AttributeType::ints && found == AttributeType::floats && !a.type.present) {
        floats.insert(floats.begin(), ints.begin(), ints.end());
        ints.clear();
        list = found;
      } else if (list == AttributeType::floats && found == AttributeType::ints) {
        floats.push_back(float(ints.back()));
        ints.clear();
      } else if (list != AttributeType::undefined && list != found) {
        return lex_.fail_at(value_at, "the values of a list must have one type");
      } else {
        list = found;
      }
    } while (lex_.eat(','));
    SX_TRY(lex_.expect(']', "after the values"));
  } else if (list == AttributeType::undefined) {
    return lex_.fail_at(at, "an empty list needs a type, as in: axes: ints = []");
  }
  a.type = int32_t(list);
  if (!floats.empty()) a.floats = floats;
  if (!ints.empty()) a.ints = ints;
  return {};
}

Status TextParser::attribute(AttributeProto& a, std::string name) {
  Level level(*this, 1);
  a.name = name;
  AttributeType expected = AttributeType::undefined;
  if (lex_.eat(':')) {
    lex_.peek();
    const size_t at = lex_.at();
    std::string word;
    SX_TRY(lex_.identifier(word, "the type of an attribute"));
    expected = parse_attribute_type(word);
    if (expected == AttributeType::undefined) {
      return lex_.fail_at(
          at, format("{} is not a type of attributes; they are float, int, string, tensor, graph, "
                     "type_proto and their plurals",
                     quoted(word)));
    }
    a.type = int32_t(expected);
  }
  SX_TRY(lex_.expect('=', "before the value of the attribute"));
  if (lex_.eat('[')) return list_value(a);
  return single_value(a, expected);
}

Status TextParser::attributes(std::vector<AttributeProto>& all) {
  if (!lex_.eat('<')) return {};
  do {
    std::string name;
    SX_TRY(lex_.identifier(name, "the name of an attribute"));
    SX_TRY(attribute(all.emplace_back(), std::move(name)));
  } while (lex_.eat(','));
  return lex_.expect('>', "after the attributes");
}

}  // namespace sx::onnx
