// SPDX-License-Identifier: Apache-2.0
#include "onnx/text_lexer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/format.h"
#include "onnx/display.h"

namespace sx::onnx {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

template <class T>
bool parse_float(std::string_view s, T& to) {
  const auto [end, problem] = std::from_chars(s.data(), s.data() + s.size(), to);
  if (end != s.data() + s.size() || s.empty()) return false;
  if (problem == std::errc()) return true;
  if (problem != std::errc::result_out_of_range) return false;
  const std::string copy(s);
  if constexpr (std::is_same_v<T, float>) {
    to = std::strtof(copy.c_str(), nullptr);
  } else {
    to = std::strtod(copy.c_str(), nullptr);
  }
  return !std::isinf(to);
}

}  // namespace

bool is_identifier(std::string_view s) {
  return !s.empty() && (is_letter(s[0]) || s[0] == '_') && std::all_of(s.begin(), s.end(), is_word);
}

bool parse_integer(std::string_view s, int64_t& to) {
  const auto [end, problem] = std::from_chars(s.data(), s.data() + s.size(), to);
  return problem == std::errc() && end == s.data() + s.size();
}
bool parse_unsigned(std::string_view s, uint64_t& to) {
  const auto [end, problem] = std::from_chars(s.data(), s.data() + s.size(), to);
  return problem == std::errc() && end == s.data() + s.size();
}
bool parse_real(std::string_view s, float& to) { return parse_float(s, to); }
bool parse_real(std::string_view s, double& to) { return parse_float(s, to); }

void TextLexer::skip() {
  while (at_ < text_.size()) {
    if (is_space(text_[at_])) {
      ++at_;
    } else if (text_[at_] == '#') {
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      const bool again = !notes_.empty() && notes_.back().at >= at_;  // after a rewind
      if (text_.substr(at_, 2) == "#@" && !again)
        notes_.push_back({text_.substr(at_ + 2, end - at_ - 2), at_});
      at_ = end;
    } else {
      return;
    }
  }
}

char TextLexer::peek() {
  skip();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool TextLexer::eat(char c) {
  if (peek() != c || at_ >= text_.size()) return false;
  ++at_;
  return true;
}

Status TextLexer::expect(char c, const char* where) {
  if (eat(c)) return {};
  const char quoted_char[] = {'\'', c, '\'', 0};
  return expected(format("{} {}", quoted_char, where).c_str());
}

std::string_view TextLexer::take_identifier() {
  skip();
  const size_t from = at_;
  if (at_ < text_.size() && (is_letter(text_[at_]) || text_[at_] == '_')) {
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  }
  return text_.substr(from, at_ - from);
}

std::string_view TextLexer::peek_identifier() {
  const std::string_view id = take_identifier();
  at_ -= id.size();
  return id;
}

Status TextLexer::identifier(std::string& to, const char* what) {
  to = take_identifier();
  return to.empty() ? expected(what) : Status();
}

Status TextLexer::name(std::string& to, const char* what) {
  return peek() == '"' ? string(to, what) : identifier(to, what);
}

Status TextLexer::string(std::string& to, const char* what) {
  if (peek() != '"') return expected(what);
  const size_t from = at_++;
  to.clear();
  while (at_ < text_.size() && text_[at_] != '"') {
    if (text_[at_] == '\\') ++at_;
    if (at_ < text_.size()) to += text_[at_++];
  }
  if (at_ >= text_.size()) return fail_at(from, "this string has no end");
  ++at_;
  return {};
}

bool TextLexer::next_is_special_float() {
  skip();
  size_t end = at_;
  std::string word;
  while (end < text_.size() && is_letter(text_[end]) && word.size() <= 8) word += char(text_[end++] | 0x20);
  if (end < text_.size() && is_digit(text_[end])) return false;
  return word == "nan" || word == "inf" || word == "infinity";
}

Status TextLexer::literal(Literal& to, const char* what) {
  if (peek() == '"') {
    to.kind = Literal::Kind::text;
    return string(to.text, what);
  }
  const size_t from = at_;
  if (at_ < text_.size() && text_[at_] == '-') ++at_;
  const auto digits = [&] {
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  };
  to.kind = Literal::Kind::integer;
  if (at_ < text_.size() && is_letter(text_[at_])) {
    if (!next_is_special_float()) {
      at_ = from;
      return expected(what);
    }
    while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
    to.kind = Literal::Kind::real;
  } else {
    if (at_ >= text_.size() || !is_digit(text_[at_])) {
      at_ = from;
      return expected(what);
    }
    digits();
    if (at_ < text_.size() && text_[at_] == '.') {
      to.kind = Literal::Kind::real;
      ++at_;
      digits();
    }
    if (at_ < text_.size() && (text_[at_] | 0x20) == 'e') {
      to.kind = Literal::Kind::real;
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      digits();
    }
  }
  to.spelling = text_.substr(from, at_ - from);
  return {};
}

Status TextLexer::integer(int64_t& to, const char* what) {
  skip();
  const size_t from = at_;
  Literal l;
  SX_TRY(literal(l, what));
  if (l.kind != Literal::Kind::integer) return fail_at(from, format("expected {}", what));
  if (!parse_integer(l.spelling, to)) {
    return fail_at(from, format("the number {} does not fit in 64 bits", l.spelling));
  }
  return {};
}

Status TextLexer::expected(const char* what) {
  skip();
  if (at_ >= text_.size()) return fail(format("expected {}, found the end of the text", what));
  size_t end = at_ + 1;
  if (is_word(text_[at_])) {
    while (end < text_.size() && is_word(text_[end]) && end - at_ < 40) ++end;
  }
  return fail(format("expected {}, found {}", what, quoted(text_.substr(at_, end - at_))));
}

Status TextLexer::fail_at(size_t at, const std::string& what) const {
  at = std::min(at, text_.size());
  const size_t newline = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
  const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const size_t line = size_t(std::count(text_.begin(), text_.begin() + std::ptrdiff_t(begin), '\n')) + 1;
  const size_t column = at - begin;
  // A long line is shown around the place.
  const size_t from = column > 60 ? column - 60 : 0;
  const size_t end = std::min(text_.find('\n', begin), text_.size());
  const std::string before = escaped(text_.substr(begin + from, column - from));
  const std::string after =
      escaped(text_.substr(at, std::min<size_t>(end - at, 100 - std::min<size_t>(column - from, 99))));
  return error(Code::invalid_model, "line {}, column {}: {}", line, column + 1, what)
      .advise("  " + before + after + "\n  " + std::string(before.size(), ' ') + "^");
}

}  // namespace sx::onnx
