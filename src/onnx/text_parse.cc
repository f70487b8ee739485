// SPDX-License-Identifier: Apache-2.0
// Parses ONNX text: nodes, graphs, functions, models.
#include <new>

#include "base/format.h"
#include "base/mapped_file.h"
#include "onnx/display.h"
#include "onnx/external_data.h"
#include "onnx/text.h"
#include "onnx/text_parser.h"

namespace sx::onnx {

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

namespace {

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
