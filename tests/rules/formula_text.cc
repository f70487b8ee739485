// SPDX-License-Identifier: Apache-2.0
#include "formula_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <random>

#include "base/format.h"
#include "graph/builder.h"
#include "graph/op.h"
#include "ops/engine/codec.h"

namespace sx::testing {
namespace {

class Parser {
 public:
  Parser(Graph& g, std::string_view text, std::map<std::string, ValueId>& names, DType number_type)
      : g_(g), b_(g, kMainBody), text_(text), names_(names), number_type_(number_type) {}

  Status statements() {
    while (!at_end()) {
      const std::string name = word();
      SX_TRY(expect('='));
      SX_ASSIGN(const ValueId v, expression());
      g_.value(v).name = name;
      names_[name] = v;
      last_ = v;
      if (!at_end()) SX_TRY(expect(';'));
    }
    SX_TRY(b_.status());
    g_.add_output(kMainBody, last_);
    return {};
  }

 private:
  void space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool at_end() {
    space();
    return at_ == text_.size();
  }
  bool next_is(char c) {
    space();
    return at_ < text_.size() && text_[at_] == c;
  }
  Status expect(char c) {
    if (!next_is(c)) return error(Code::invalid_argument, "expected '{}' at '{}'", c, text_.substr(at_));
    ++at_;
    return {};
  }
  std::string word() {
    space();
    const size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    return std::string(text_.substr(start, at_ - start));
  }
  bool number(double& value) {
    space();
    std::string_view rest = text_.substr(at_);
    const bool infinite = rest.starts_with("-inf") || rest.starts_with("inf");
    if (!infinite && (rest.empty() || !(std::isdigit(static_cast<unsigned char>(rest[0])) || rest[0] == '-')))
      return false;
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (failed != std::errc()) return false;
    at_ += size_t(end - rest.data());
    return true;
  }
  Result<std::vector<int64_t>> list() {
    SX_TRY(expect('['));
    std::vector<int64_t> v;
    double value = 0;
    while (number(value)) {
      v.push_back(int64_t(value));
      if (next_is(',')) ++at_;
    }
    SX_TRY(expect(']'));
    return v;
  }

  Result<ValueId> expression() {
    double value = 0;
    if (next_is('[')) {
      SX_ASSIGN(const std::vector<int64_t> v, list());
      return b_.ints(v);
    }
    if (next_is('-') || (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])))) {
      if (!number(value)) return error(Code::invalid_argument, "no number at '{}'", text_.substr(at_));
      return b_.constant(scalar_of(number_type_, value));
    }
    const std::string name = word();
    if (name == "true" || name == "false") return b_.constant(scalar_of(DType::boolean, name == "true"));
    if (!next_is('(') && !next_is('<')) {
      auto it = names_.find(name);
      if (it == names_.end()) return error(Code::invalid_argument, "'{}' is not declared", name);
      return it->second;
    }
    return call(name);
  }

  Result<ValueId> call(const std::string& op) {
    Attrs attrs;
    if (next_is('<')) {
      ++at_;
      while (!next_is('>')) {
        const std::string key = word();
        SX_TRY(expect('='));
        SX_ASSIGN(AttrValue value, attribute(op, key));
        attrs.set(key, std::move(value));
        if (next_is(',')) ++at_;
      }
      ++at_;
    }
    SX_TRY(expect('('));
    std::vector<ValueId> inputs;
    while (!next_is(')')) {
      if (next_is('_')) {  // an input that is not given
        ++at_;
        inputs.push_back(kNoValue);
      } else {
        SX_ASSIGN(const ValueId v, expression());
        inputs.push_back(v);
      }
      if (next_is(',')) ++at_;
    }
    ++at_;
    const ValueId v = b_.op(op, std::move(inputs), std::move(attrs));
    SX_TRY(b_.status());
    return v;
  }

  Result<AttrValue> attribute(const std::string& op, const std::string& key) {
    const Op* record = find_op("", op);
    if (!record) return error(Code::invalid_argument, "there is no operator {}", op);
    if (next_is('[')) {
      SX_ASSIGN(std::vector<int64_t> v, list());
      return AttrValue(std::move(v));
    }
    double value = 0;
    if (number(value)) {
      for (const AttrDef& d : record->attrs) {
        if (d.name == key && d.kind == AttrKind::floating) return AttrValue(float(value));
      }
      return AttrValue(int64_t(value));
    }
    return AttrValue(word());
  }

  Graph& g_;
  Builder b_;
  std::string_view text_;
  std::map<std::string, ValueId>& names_;
  DType number_type_;
  size_t at_ = 0;
  ValueId last_ = kNoValue;
};

std::string number_text(double v) { return format("{:.4g}", v); }

std::string attr_text(const AttrValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return format("{}", *i);
  if (const auto* f = std::get_if<float>(&value)) return number_text(double(*f));
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  if (const auto* v = std::get_if<std::vector<int64_t>>(&value))
    return to_string(std::span<const int64_t>(*v));
  return "?";
}

std::string value_text(const Graph& g, ValueId v) {
  if (v == kNoValue) return "_";
  const ValueInfo& info = g.value(v);
  if (info.is_constant()) {
    const Tensor& t = info.constant.tensor;
    if (t.type() == DType::i64 && t.rank() == 1) return to_string(t.as<int64_t>());
    if (t.count() == 1) return number_text(number_at<double>(t));
    return format("const{}", to_string(t.dims()));
  }
  if (info.producer == kNoNode) return info.name;
  const Node& n = g.node(info.producer);
  std::vector<std::string> attrs;
  for (const Attr& a : n.attrs.list()) attrs.push_back(a.name + "=" + attr_text(a.value));
  std::sort(attrs.begin(), attrs.end());
  std::string text = n.type;
  for (size_t i = 0; i < attrs.size(); ++i)
    text += (i ? ", " : "<") + attrs[i] + (i + 1 == attrs.size() ? ">" : "");
  text += "(";
  for (size_t i = 0; i < n.inputs.size(); ++i) text += (i ? ", " : "") + value_text(g, n.inputs[i]);
  return text + ")";
}

}  // namespace

Tensor random_tensor(DType type, const Dims& dims, uint64_t seed) {
  auto t = Tensor::allocate(type, dims);
  if (!t.ok()) return {};
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(size_t(t->count()));
  for (double& v : values)
    v = dtype_is_float(type) ? normal(random) : double(random() % (type == DType::boolean ? 2 : 4));
  encode<double>(values.data(), values.size(), type, t->mutable_data(), 0, 1);
  return std::move(*t);
}

Result<Declaration> parse_declaration(std::string_view line) {
  Declaration d;
  size_t space = line.find(' ');
  d.name = std::string(line.substr(0, space));
  line.remove_prefix(std::min(line.find_first_not_of(' ', space), line.size()));
  if (line.starts_with("const ")) {
    d.weight = true;
    line.remove_prefix(std::min(line.find_first_not_of(' ', 6), line.size()));
  }
  const size_t open = line.find('['), close = line.find(']');
  if (open == line.npos || close == line.npos || !parse_dtype(line.substr(0, open), d.type)) {
    return error(Code::invalid_argument, "'{}' declares nothing", line);
  }
  std::string size;
  for (char c : line.substr(open + 1, close - open)) {
    if (c == ',' || c == ']') {
      if (!size.empty()) d.dims.push_back(std::exchange(size, {}));
    } else if (c != ' ') {
      size += c;
    }
  }
  return d;
}

Result<Graph> parse_formula(const std::vector<Declaration>& declared, std::string_view text) {
  Graph g;
  std::map<std::string, ValueId> names;
  DType number_type = DType::f32;
  uint64_t seed = 7;
  for (const Declaration& d : declared) {
    std::vector<Dim> dims;
    Dims constant;
    for (const std::string& s : d.dims) {
      const bool digits = std::isdigit(static_cast<unsigned char>(s[0]));
      dims.push_back(digits ? Dim(std::stoll(s)) : g.pool().symbol(s));
      constant.push_back(digits ? std::stoll(s) : 1);
    }
    if (dtype_is_float(d.type)) number_type = d.type;
    names[d.name] = d.weight
                        ? g.add_constant(kMainBody, Value(random_tensor(d.type, constant, ++seed)), d.name)
                        : g.add_input(kMainBody, d.name, Type::tensor(d.type, Shape(std::move(dims))));
  }
  SX_TRY(Parser(g, text, names, number_type).statements());
  SX_TRY(g.verify());
  return g;
}

std::string formula_of(const Graph& graph) { return value_text(graph, graph.main().outputs[0]); }

}  // namespace sx::testing
