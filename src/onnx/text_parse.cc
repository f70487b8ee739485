// SPDX-License-Identifier: Apache-2.0
// Parses ONNX text, by recursive descent with a bounded depth.
#include <new>

#include "base/format.h"
#include "base/mapped_file.h"
#include "onnx/display.h"
#include "onnx/external_data.h"
#include "onnx/read.h"
#include "onnx/text.h"
#include "onnx/text_lexer.h"
#include "onnx/text_notes.h"
#include "onnx/text_tensor.h"
#include "onnx/text_types.h"

namespace sx::onnx {
namespace {

class TextParser {
 public:
  explicit TextParser(std::string_view text) : lex_(text), size_(text.size()) {}

  Status model(ModelProto& m);
  Status graph(GraphProto& g);
  Status function(FunctionProto& f);
  Status node(NodeProto& n);
  Status type(TypeProto& t);
  Status end() { return lex_.at_end() ? Status() : lex_.expected("the end of the text"); }
  Status notes(ModelProto& m, std::vector<std::shared_ptr<const void>>& keep) {
    return apply_notes(lex_, m, keep, size_);
  }

 private:
  // Nested messages count as the reader counts them, so that what is parsed can also be read.
  struct Level {
    TextParser& p;
    int n;
    Level(TextParser& parser, int levels) : p(parser), n(levels) { p.depth_ += n; }
    ~Level() { p.depth_ -= n; }
  };
  Status check_depth() {
    if (depth_ <= kMaxDepth - 8) return {};
    return lex_.fail(format("graphs or types are nested deeper than {} levels of messages", kMaxDepth));
  }
  bool next_is_type() { return is_type_word(lex_.peek_identifier()); }

  Status shape(Box<TensorShapeProto>& s);
  Status value(ValueInfoProto& v);
  Status values(std::vector<ValueInfoProto>& all, char open, char close);
  Status initializer(const ValueInfoProto& v, std::vector<TensorProto>& to);
  Status tensor_of(const TypeProto& t, TensorProto& to);
  Status names(std::vector<Text>& all);
  Status function_values(std::vector<Text>& names, std::vector<ValueInfoProto>& infos);
  Status attribute(AttributeProto& a, std::string name);
  Status attributes(std::vector<AttributeProto>& all);
  Status single_value(AttributeProto& a, AttributeType expected);
  Status typed_value(AttributeProto& a);
  Status number_value(AttributeProto& a, AttributeType expected);
  Status list_value(AttributeProto& a);
  Status nodes(std::vector<NodeProto>& all);
  Status graph_body(GraphProto& g);
  Status opsets(std::vector<OperatorSetIdProto>& all);
  Status entries(std::vector<StringStringEntryProto>& all);
  Status text(Text& to, const char* what) {
    std::string s;
    SX_TRY(lex_.string(s, what));
    to = s;
    return {};
  }
  Status number(Opt<int64_t>& to, const char* what) {
    int64_t n = 0;
    SX_TRY(lex_.integer(n, what));
    to = n;
    return {};
  }
  Status model_key(ModelProto& m, std::string_view key, size_t at);
  Status function_key(FunctionProto& f, std::string_view key, size_t at);

  TextLexer lex_;
  size_t size_;
  int depth_ = 0;
};

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

Status TextParser::node(NodeProto& n) {
  Level level(*this, 1);
  if (lex_.eat('[')) {
    std::string name;
    if (lex_.peek() != ']') SX_TRY(lex_.name(name, "the name of a node"));
    n.name = name;
    SX_TRY(lex_.expect(']', "after the name of the node"));
  }
  SX_TRY(names(n.output));
  SX_TRY(lex_.expect('=', "after the outputs of a node"));
  std::string domain, op;
  SX_TRY(lex_.identifier(op, "the name of an operator"));
  while (lex_.eat('.')) {
    domain += (domain.empty() ? "" : ".") + op;
    SX_TRY(lex_.identifier(op, "the name of an operator"));
  }
  n.op_type = op;
  if (!domain.empty()) n.domain = domain;
  if (lex_.eat(':')) {
    std::string overload;
    SX_TRY(lex_.identifier(overload, "the name of an overload"));
    n.overload = overload;
  }
  SX_TRY(attributes(n.attribute));
  SX_TRY(lex_.expect('(', "before the inputs of a node"));
  SX_TRY(names(n.input));
  SX_TRY(lex_.expect(')', "after the inputs of a node"));
  if (n.attribute.empty()) SX_TRY(attributes(n.attribute));
  return {};
}

Status TextParser::nodes(std::vector<NodeProto>& all) {
  SX_TRY(lex_.expect('{', "before the nodes"));
  while (!lex_.eat('}')) {
    if (lex_.at_end()) return lex_.expected("a node or '}'");
    SX_TRY(node(all.emplace_back()));
  }
  return {};
}

Status TextParser::graph(GraphProto& g) {
  Level level(*this, 1);
  SX_TRY(check_depth());
  std::string name;
  SX_TRY(lex_.name(name, "the name of a graph"));
  g.name = name;
  return graph_body(g);
}

Status TextParser::graph_body(GraphProto& g) {
  if (lex_.eat('(') && !lex_.eat(')')) {
    do {
      SX_TRY(value(g.input.emplace_back()));
      if (lex_.eat('=')) SX_TRY(initializer(g.input.back(), g.initializer));
    } while (lex_.eat(','));
    SX_TRY(lex_.expect(')', "after the inputs of the graph"));
  }
  SX_TRY(lex_.expect('=', "and '>' after the inputs of the graph"));
  SX_TRY(lex_.expect('>', "after '='"));
  SX_TRY(values(g.output, '(', ')'));
  if (lex_.eat('<') && !lex_.eat('>')) {
    do {
      ValueInfoProto v;
      SX_TRY(value(v));
      if (lex_.eat('=')) {
        SX_TRY(initializer(v, g.initializer));
      } else {
        g.value_info.push_back(std::move(v));
      }
    } while (lex_.eat(','));
    SX_TRY(lex_.expect('>', "after the initializers and values"));
  }
  return nodes(g.node);
}

Status TextParser::opsets(std::vector<OperatorSetIdProto>& all) {
  SX_TRY(lex_.expect('[', "before the operator sets"));
  if (lex_.eat(']')) return {};
  do {
    OperatorSetIdProto& o = all.emplace_back();
    SX_TRY(text(o.domain, "a domain in quotes"));
    SX_TRY(lex_.expect(':', "after the domain"));
    SX_TRY(number(o.version, "the version of an operator set"));
  } while (lex_.eat(','));
  return lex_.expect(']', "after the operator sets");
}

Status TextParser::entries(std::vector<StringStringEntryProto>& all) {
  SX_TRY(lex_.expect('[', "before the entries"));
  if (lex_.eat(']')) return {};
  do {
    StringStringEntryProto& e = all.emplace_back();
    SX_TRY(text(e.key, "a key in quotes"));
    SX_TRY(lex_.expect(':', "after the key"));
    SX_TRY(text(e.value, "a value in quotes"));
  } while (lex_.eat(','));
  return lex_.expect(']', "after the entries");
}

Status TextParser::function_values(std::vector<Text>& ids, std::vector<ValueInfoProto>& infos) {
  SX_TRY(lex_.expect('(', "before the values of the function"));
  if (lex_.eat(')')) return {};
  do {
    ValueInfoProto v;
    SX_TRY(value(v));
    ids.emplace_back(v.name.view());
    if (v.type) infos.push_back(std::move(v));
  } while (lex_.eat(','));
  return lex_.expect(')', "after the values of the function");
}

Status TextParser::function_key(FunctionProto& f, std::string_view key, size_t at) {
  if (key == "opset_import") return opsets(f.opset_import);
  if (key == "doc_string") return text(f.doc_string, "a text in quotes");
  if (key == "domain") return text(f.domain, "a domain in quotes");
  if (key == "overload") return text(f.overload, "an overload in quotes");
  return lex_.fail_at(
      at, format("a function has no {}; expected domain, overload, opset_import or doc_string", quoted(key)));
}

Status TextParser::function(FunctionProto& f) {
  Level level(*this, 1);
  if (lex_.eat('<')) {
    do {
      lex_.peek();
      const size_t at = lex_.at();
      std::string key;
      SX_TRY(lex_.identifier(key, "a keyword"));
      SX_TRY(lex_.expect(':', "after the keyword"));
      SX_TRY(function_key(f, key, at));
    } while (lex_.eat(','));
    SX_TRY(lex_.expect('>', "after the keywords"));
  }
  std::string name;
  SX_TRY(lex_.name(name, "the name of a function"));
  f.name = name;
  if (lex_.eat('<')) {
    do {
      SX_TRY(lex_.name(name, "the name of an attribute"));
      if (lex_.peek() == ':' || lex_.peek() == '=') {
        SX_TRY(attribute(f.attribute_proto.emplace_back(), name));
      } else {
        f.attribute.emplace_back(name);
      }
    } while (lex_.eat(','));
    SX_TRY(lex_.expect('>', "after the attributes of the function"));
  }
  SX_TRY(function_values(f.input, f.value_info));
  SX_TRY(lex_.expect('=', "and '>' after the inputs of the function"));
  SX_TRY(lex_.expect('>', "after '='"));
  SX_TRY(function_values(f.output, f.value_info));
  if (lex_.peek() == '<') SX_TRY(values(f.value_info, '<', '>'));
  return nodes(f.node);
}

Status TextParser::model_key(ModelProto& m, std::string_view key, size_t at) {
  if (key == "ir_version") return number(m.ir_version, "a version");
  if (key == "opset_import") return opsets(m.opset_import);
  if (key == "producer_name") return text(m.producer_name, "a text in quotes");
  if (key == "producer_version") return text(m.producer_version, "a text in quotes");
  if (key == "domain") return text(m.domain, "a domain in quotes");
  if (key == "model_version") return number(m.model_version, "a version");
  if (key == "doc_string") return text(m.doc_string, "a text in quotes");
  if (key == "metadata_props") return entries(m.metadata_props);
  return lex_.fail_at(at, format("a model has no {}; expected ir_version, opset_import, producer_name, "
                                 "producer_version, domain, model_version, doc_string or metadata_props",
                                 quoted(key)));
}

Status TextParser::model(ModelProto& m) {
  Level level(*this, 1);
  if (lex_.eat('<')) {
    do {
      lex_.peek();
      const size_t at = lex_.at();
      std::string key;
      SX_TRY(lex_.identifier(key, "a keyword"));
      SX_TRY(lex_.expect(':', "after the keyword"));
      SX_TRY(model_key(m, key, at));
    } while (lex_.eat(','));
    SX_TRY(lex_.expect('>', "after the keywords"));
  }
  SX_TRY(graph(m.graph.make()));
  while (!lex_.at_end()) SX_TRY(function(m.functions.emplace_back()));
  return {};
}

template <class M>
Result<M> parse_one(std::string_view text, Status (TextParser::*rule)(M&)) {
  TextParser parser(text);
  M m;
  SX_TRY((parser.*rule)(m));
  SX_TRY(parser.end());
  return m;
}

}  // namespace

Result<std::shared_ptr<Model>> parse_text(std::string_view text, const std::string& folder) {
  auto model = std::make_shared<Model>();
  try {
    TextParser parser(text);
    SX_TRY(parser.model(*model));
    SX_TRY(parser.notes(*model, model->keep));
  } catch (const std::bad_alloc&) {
    return error(Code::out_of_memory, "there is not enough memory for the model in {} bytes of text",
                 text.size());
  }
  if (!folder.empty()) model->external = std::make_shared<ExternalFiles>(folder);
  return model;
}

Result<std::shared_ptr<Model>> parse_text_file(const std::string& path) {
  SX_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  return parse_text(text, folder).in(path);
}

Result<GraphProto> parse_graph_text(std::string_view text) { return parse_one(text, &TextParser::graph); }
Result<FunctionProto> parse_function_text(std::string_view text) {
  return parse_one(text, &TextParser::function);
}
Result<NodeProto> parse_node_text(std::string_view text) { return parse_one(text, &TextParser::node); }
Result<TypeProto> parse_type_text(std::string_view text) { return parse_one(text, &TextParser::type); }

}  // namespace sx::onnx
