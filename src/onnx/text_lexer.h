// SPDX-License-Identifier: Apache-2.0
// The characters of ONNX text: spaces, comments, identifiers, literals, and errors that point at a place.
// Internal to src/onnx.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sx::onnx {

inline constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_identifier(std::string_view text);

struct Literal {
  enum class Kind : uint8_t { integer, real, text };
  Kind kind = Kind::integer;
  std::string_view spelling;  // of a number
  std::string text;           // of a string, without quotes and escapes
};

class TextLexer {
 public:
  explicit TextLexer(std::string_view text) : text_(text) {}

  char peek();  // the next character that is not space or comment; 0 at the end
  bool eat(char c);
  Status expect(char c, const char* where);
  bool at_end() { return peek() == 0 && at_ >= text_.size(); }
  std::string_view peek_identifier();
  std::string_view take_identifier();  // empty if there is none
  Status identifier(std::string& to, const char* what);
  Status name(std::string& to, const char* what);  // identifier or quoted
  Status string(std::string& to, const char* what);
  Status literal(Literal& to, const char* what);
  Status integer(int64_t& to, const char* what);
  bool next_is_special_float();  // nan, inf, infinity

  size_t at() const { return at_; }
  void rewind(size_t at) { at_ = at; }
  Status fail(const std::string& what) {
    skip();
    return fail_at(at_, what);
  }
  Status fail_at(size_t at, const std::string& what) const;
  Status expected(const char* what);  // "expected …, found …"

  // The comment lines that start with "#@", without that, and where they are.
  struct Note {
    std::string_view text;
    size_t at;
  };
  const std::vector<Note>& notes() const { return notes_; }

 private:
  void skip();
  std::string_view text_;
  size_t at_ = 0;
  std::vector<Note> notes_;
};

bool parse_integer(std::string_view spelling, int64_t& to);
bool parse_unsigned(std::string_view spelling, uint64_t& to);
bool parse_real(std::string_view spelling, float& to);  // too small rounds to zero, too large is refused
bool parse_real(std::string_view spelling, double& to);

}  // namespace sx::onnx
