// SPDX-License-Identifier: Apache-2.0
// The parser of ONNX text: recursive descent with a bounded depth. Internal to src/onnx.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "onnx/model.h"
#include "onnx/read.h"
#include "onnx/text_lexer.h"
#include "onnx/text_notes.h"
#include "onnx/text_types.h"

namespace sx::onnx {

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

}  // namespace sx::onnx
