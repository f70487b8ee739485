// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <charconv>
#include <cmath>
#include <fstream>

#include "base/format.h"
#include "ops/engine/codec.h"

namespace sx::testing {
namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
  return s;
}

// Cuts at the first of `marks` outside of quotes and brackets.
std::string_view cut(std::string_view& rest, std::string_view marks) {
  int depth = 0;
  bool quoted = false;
  size_t k = 0;
  for (; k < rest.size(); ++k) {
    const char c = rest[k];
    if (c == '"' && (k == 0 || rest[k - 1] != '\\')) quoted = !quoted;
    if (quoted) continue;
    if (depth == 0 && marks.find(c) != marks.npos) break;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
  const std::string_view head = rest.substr(0, k);
  rest = k < rest.size() ? rest.substr(k + 1) : std::string_view();
  return head;
}

std::vector<std::string_view> split(std::string_view text, std::string_view marks) {
  std::vector<std::string_view> parts;
  while (!trim(text).empty()) {
    const std::string_view part = trim(cut(text, marks));
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

bool read_double(std::string_view s, double& v) {
  if (!s.empty() && s.front() == '+') s.remove_prefix(1);
  const auto r = std::from_chars(s.data(), s.data() + s.size(), v);
  return r.ec == std::errc() && r.ptr == s.data() + s.size();
}

template <class T>
bool read_integer(std::string_view s, T& v) {
  const auto r = std::from_chars(s.data(), s.data() + s.size(), v);
  return r.ec == std::errc() && r.ptr == s.data() + s.size();
}

// 1+2i, or a real number.
bool read_complex(std::string_view s, complex128& v) {
  double re = 0, im = 0;
  if (s.empty() || s.back() != 'i') {
    const bool ok = read_double(s, re);
    v = re;
    return ok;
  }
  s.remove_suffix(1);
  const size_t sign = s.find_last_of("+-");
  if (sign == s.npos || sign == 0) return false;
  const bool ok = read_double(s.substr(0, sign), re) && read_double(s.substr(sign), im);
  v = {re, im};
  return ok;
}

bool put(std::string_view word, Tensor& t, int64_t k) {
  const DType type = t.type();
  if (type == DType::string) {
    t.mutable_strings()[size_t(k)] = unquoted(word);
    return true;
  }
  if (type == DType::boolean && (word == "true" || word == "false")) word = word == "true" ? "1" : "0";
  if (dtype_is_complex(type)) {
    complex128 v;
    if (!read_complex(word, v)) return false;
    encode(&v, 1, type, t.mutable_data(), k, 1);
    return true;
  }
  if (int64_t v; !dtype_is_float(type) && read_integer(word, v)) {
    encode(&v, 1, type, t.mutable_data(), k, 1);
    return true;
  }
  if (uint64_t v; !dtype_is_float(type) && read_integer(word, v)) {
    encode(&v, 1, type, t.mutable_data(), k, 1);
    return true;
  }
  double v = 0;
  if (!dtype_is_float(type) || !read_double(word, v)) return false;
  EncodeOptions options;
  options.saturate = false;
  encode(&v, 1, type, t.mutable_data(), k, 1, options);
  return true;
}

Result<Tensor> parse_tensor(std::string_view text) {
  const size_t end = text.find_first_of(" [{");
  const std::string_view name = text.substr(0, end);
  DType type;
  if (!parse_dtype(name, type)) return error(Code::invalid_argument, "'{}' is no element type", name);
  text = trim(end == text.npos ? std::string_view() : text.substr(end));
  Dims dims;
  bool scalar = true;
  if (!text.empty() && text.front() == '[') {
    const size_t close = text.find(']');
    if (close == text.npos) return error(Code::invalid_argument, "the shape has no end in '{}'", text);
    for (std::string_view part : split(text.substr(1, close - 1), ", ")) {
      int64_t d = 0;
      if (!read_integer(part, d)) return error(Code::invalid_argument, "'{}' is no size", part);
      dims.push_back(d);
      scalar = false;
    }
    text = trim(text.substr(close + 1));
  }
  if (!text.empty() && text.front() == '{' && text.back() == '}')
    text = trim(text.substr(1, text.size() - 2));
  SX_ASSIGN(Tensor t, Tensor::zeros(type, dims));
  int64_t k = 0;
  for (std::string_view word : split(text, " /,\t")) {
    if (k >= t.count()) return error(Code::invalid_argument, "more than {} elements", t.count());
    if (!put(word, t, k++)) return error(Code::invalid_argument, "'{}' is no {}", word, dtype_name(type));
  }
  // One number fills the whole tensor.
  if (k == 1 && t.count() > 1 && !scalar && type != DType::string) {
    const std::vector<std::string_view> words = split(text, " /,\t");
    for (; k < t.count(); ++k) put(words[0], t, k);
  }
  if (k != t.count()) return error(Code::invalid_argument, "{} elements of {}", k, t.count());
  return t;
}

Status parse_line(std::string_view text, TableCase& c) {
  if (text.starts_with("error:")) {
    c.error = trim(text.substr(6));
    return {};
  }
  if (text == "not in float64") {
    c.narrow = true;
    return {};
  }
  if (text.starts_with("within ")) {
    if (!read_double(trim(text.substr(7)), c.within))
      return error(Code::invalid_argument, "'{}' is no number", text);
    return {};
  }
  TableValue v;
  std::string_view name = cut(text, " \t");
  if (name == "const") {
    v.constant = true;
    text = trim(text);
    name = cut(text, " \t");
  }
  v.name = name;
  const bool output = !name.empty() && name[0] == 'y' && name.find_first_not_of("0123456789", 1) == name.npos;
  if (trim(text) != "-") {
    SX_ASSIGN(v.value, parse_value(trim(text)));
  }
  (output ? c.outputs : c.inputs).push_back(std::move(v));
  return {};
}

Status parse_title(std::string_view text, TableCase& c) {
  c.title = text;
  std::string_view name = trim(cut(text, " \t"));
  if (const size_t dash = name.rfind('-'); dash != name.npos) {
    if (!read_integer(name.substr(dash + 1), c.version))
      return error(Code::invalid_argument, "'{}' has no version", name);
    name = name.substr(0, dash);
  }
  if (const size_t dot = name.rfind('.'); dot != name.npos) {
    c.domain = name.substr(0, dot);
    name = name.substr(dot + 1);
  }
  c.op = name;
  for (std::string_view part : split(text, " \t")) {
    const size_t equals = part.find('=');
    if (equals == part.npos) return error(Code::invalid_argument, "'{}' is no attribute", part);
    c.attrs.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  return {};
}

}  // namespace

std::string unquoted(std::string_view s) {
  if (s.size() < 2 || s.front() != '"' || s.back() != '"') return std::string(s);
  std::string out;
  for (size_t k = 1; k + 1 < s.size(); ++k) {
    if (s[k] == '\\' && k + 2 < s.size()) {
      ++k;
      out += s[k] == 'n' ? '\n' : s[k] == 't' ? '\t' : s[k];
    } else {
      out += s[k];
    }
  }
  return out;
}

std::vector<std::string> items_of(std::string_view list) {
  if (list.size() >= 2 && list.front() == '[') list = list.substr(1, list.size() - 2);
  std::vector<std::string> items;
  for (std::string_view item : split(list, ",")) items.push_back(unquoted(item));
  return items;
}

Result<Value> parse_value(std::string_view text) {
  const bool sequence = text.starts_with("seq("), optional = text.starts_with("opt(");
  if (!sequence && !optional) {
    SX_ASSIGN(Tensor t, parse_tensor(text));
    return Value(std::move(t));
  }
  if (text.back() != ')') return error(Code::invalid_argument, "'{}' has no end", text);
  std::vector<Value> items;
  for (std::string_view part : split(text.substr(4, text.size() - 5), ";")) {
    SX_ASSIGN(Value v, parse_value(part));
    items.push_back(std::move(v));
  }
  if (sequence) return Value::of_sequence(std::move(items));
  return items.empty() ? Value::empty_optional() : Value::of_optional(std::move(items[0]));
}

Result<std::vector<TableCase>> read_table(const std::string& path) {
  std::ifstream in(path);
  if (!in) return error(Code::io, "cannot read {}", path);
  std::vector<TableCase> cases;
  std::string line, pending;
  int number = 0;
  auto finish = [&]() -> Status {
    const Status s = pending.empty() ? Status() : parse_line(trim(pending), cases.back());
    pending.clear();
    return s;
  };
  while (std::getline(in, line)) {
    ++number;
    std::string_view rest = line;
    const std::string text(cut(rest, "#"));
    const std::string_view body = trim(text);
    Status status;
    if (body.empty()) continue;
    if (body.front() == '|') {
      pending += ' ' + std::string(body.substr(1));
      continue;
    }
    if (!cases.empty()) status = finish();
    if (status.ok() && text.front() != ' ') {
      cases.push_back({path, number});
      status = parse_title(body, cases.back());
    } else if (status.ok()) {
      if (cases.empty()) status = error(Code::invalid_argument, "a value before the first case");
      pending = body;
    }
    if (!status.ok()) return std::move(status).in(format("{}:{}", path, number));
  }
  if (!cases.empty()) SX_TRY(finish());
  return cases;
}

}  // namespace sx::testing
