// SPDX-License-Identifier: Apache-2.0
// Options: what a verb understands, as a table. The same table reads the words of a command line and makes
// --help, the man page and the shell completions.
#pragma once
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sx::tools {

// What a value is. Files that are read must be there before the verb runs; shells complete each in its way.
enum class Takes : uint8_t { text, model, file, named_file, new_file, folder, path };

// Where a value goes: the variable's own type says how it is read.
struct Place {
  enum class Kind : uint8_t { flag, text, texts, integer, natural, natural64, real };
  Place(bool& v) : kind(Kind::flag), to(&v) {}
  Place(std::string& v) : kind(Kind::text), to(&v) {}
  Place(std::vector<std::string>& v) : kind(Kind::texts), to(&v) {}
  Place(int& v) : kind(Kind::integer), to(&v) {}
  Place(unsigned& v) : kind(Kind::natural), to(&v) {}
  Place(uint64_t& v) : kind(Kind::natural64), to(&v) {}
  Place(double& v) : kind(Kind::real), to(&v) {}
  Kind kind;
  void* to;
};

struct Option {
  std::string name;      // "--output", or "MODEL" for an argument
  char letter = 0;       // 'o' where -o is the same
  std::string value;     // what help calls the value; empty for a flag
  std::string help;      // one sentence, without a capital or a full stop
  std::string standard;  // what it is when nobody says; empty: nothing worth telling
  Place place;
  Takes takes = Takes::text;
  std::vector<std::string> choices, rivals;
  bool needed = false, given = false;

  Option& required();
  Option& is(Takes what);
  Option& one_of(std::initializer_list<const char*> words);  // nothing else is accepted
  Option& not_with(const char* other);
  Option& at_least_one();  // a number that may not be 0

  bool is_argument() const { return name[0] != '-'; }
  bool is_flag() const { return place.kind == Place::Kind::flag; }
  bool is_repeated() const { return place.kind == Place::Kind::texts; }
  bool positive = false;
};

class Options {
 public:
  Option& argument(const char* name, Place place, const char* help);  // required
  Option& flag(const char* name, bool& to, const char* help);
  // "--seed", or "-o,--output". The variable's value now is the default that help tells.
  Option& value(const char* name, const char* value, Place place, const char* help);

  // Reads the words after the verb: --name value, --name=value, -o value, -ovalue, -- before arguments.
  Status parse(std::span<const std::string> words);
  // Input files that are named but not there: an error that names the nearest one.
  Status check_files() const;

  const std::deque<Option>& all() const { return list_; }

 private:
  Option& add(Option option);
  Option* find(std::string_view word);
  Status unknown(std::string_view word) const;
  Status take_option(std::span<const std::string> words, size_t& at);
  Status take_argument(const std::string& word);
  Status check() const;
  std::deque<Option> list_;  // references stay good
};

// The candidate that `word` was probably meant to be; empty if none is near.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace sx::tools
