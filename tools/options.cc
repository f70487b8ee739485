// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "files.h"
#include "terminal.h"

namespace sx::tools {
namespace {

template <class T>
bool read_number(std::string_view text, void* to) {
  T value{};
  const char* end = text.data() + text.size();
  const auto r = std::from_chars(text.data(), end, value);
  if (r.ec != std::errc() || r.ptr != end) return false;
  *static_cast<T*>(to) = value;
  return true;
}

Status store(const Option& o, std::string_view text) {
  const auto wrong = [&](const char* expected) {
    return error(Code::invalid_argument, "{} expects {}, found '{}'", o.name, expected, escaped(text));
  };
  if (!o.choices.empty() && std::find(o.choices.begin(), o.choices.end(), text) == o.choices.end()) {
    std::string list;
    for (const std::string& c : o.choices)
      list += (list.empty() ? "" : &c == &o.choices.back() ? " or " : ", ") + c;
    return wrong(list.c_str());
  }
  switch (o.place.kind) {
    case Place::Kind::flag: *static_cast<bool*>(o.place.to) = true; return {};
    case Place::Kind::text: *static_cast<std::string*>(o.place.to) = text; return {};
    case Place::Kind::texts:
      static_cast<std::vector<std::string>*>(o.place.to)->emplace_back(text);
      return {};
    case Place::Kind::integer:
      if (!read_number<int>(text, o.place.to)) return wrong("a whole number");
      if (o.positive && *static_cast<int*>(o.place.to) < 1) return wrong("a number of at least 1");
      return {};
    case Place::Kind::natural:
      return read_number<unsigned>(text, o.place.to) ? Status() : wrong("a whole number, not negative");
    case Place::Kind::natural64:
      return read_number<uint64_t>(text, o.place.to) ? Status() : wrong("a whole number, not negative");
    case Place::Kind::real: return read_number<double>(text, o.place.to) ? Status() : wrong("a number");
  }
  return {};
}

std::string standard_of(const Place& place) {
  switch (place.kind) {
    case Place::Kind::flag:
    case Place::Kind::texts: return "";
    case Place::Kind::text: return *static_cast<std::string*>(place.to);
    case Place::Kind::integer: {
      const int v = *static_cast<int*>(place.to);
      return v > 0 ? format("{}", v) : "";
    }
    case Place::Kind::natural: {
      const unsigned v = *static_cast<unsigned*>(place.to);
      return v > 0 ? format("{}", v) : "";
    }
    case Place::Kind::natural64: {
      const uint64_t v = *static_cast<uint64_t*>(place.to);
      return v > 0 ? format("{}", v) : "";
    }
    case Place::Kind::real: {
      const double v = *static_cast<double*>(place.to);
      return v > 0 ? format("{:g}", v) : "";
    }
  }
  return "";
}

// NAME=FILE, where both may have '=' in them: good if any reading is.
Status check_named(const std::string& text) {
  Status missing;
  for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
    missing = check_path(text.substr(at + 1), false, false);
    if (missing.ok()) break;
  }
  return missing;
}

}  // namespace

Option& Option::required() {
  needed = true;
  return *this;
}
Option& Option::is(Takes what) {
  takes = what;
  return *this;
}
Option& Option::one_of(std::initializer_list<const char*> words) {
  choices.assign(words.begin(), words.end());
  return *this;
}
Option& Option::not_with(const char* other) {
  rivals.emplace_back(other);
  return *this;
}
Option& Option::at_least_one() {
  positive = true;
  return *this;
}

Option& Options::add(Option option) {
  option.standard = standard_of(option.place);
  return list_.emplace_back(std::move(option));
}

Option& Options::argument(const char* name, Place place, const char* help) {
  return add({.name = name, .value = name, .help = help, .place = place}).required();
}

Option& Options::flag(const char* name, bool& to, const char* help) {
  return add({.name = name, .help = help, .place = to});
}

Option& Options::value(const char* name, const char* value, Place place, const char* help) {
  const std::string_view all = name;
  const bool both = all[1] != '-';
  return add({.name = std::string(both ? all.substr(3) : all),
              .letter = both ? all[1] : char(0),
              .value = value,
              .help = help,
              .place = place});
}

Option* Options::find(std::string_view word) {
  for (Option& o : list_) {
    if (o.is_argument()) continue;
    if (word == o.name || (o.letter && word.size() == 2 && word[0] == '-' && word[1] == o.letter)) return &o;
  }
  return nullptr;
}

Status Options::unknown(std::string_view word) const {
  std::vector<std::string> names;
  for (const Option& o : list_) {
    if (!o.is_argument()) names.push_back(o.name);
  }
  const std::string near = nearest(word, names);
  return error(Code::invalid_argument, "there is no option '{}'{}", escaped(word),
               near.empty() ? "" : format("; did you mean '{}'?", near));
}

Status Options::take_option(std::span<const std::string> words, size_t& at) {
  const std::string& word = words[at];
  const bool is_long = word.starts_with("--");
  const size_t equals = is_long ? word.find('=') : std::string::npos;
  const std::string key = is_long ? word.substr(0, equals) : word.substr(0, 2);
  Option* o = find(key);
  if (!o) return unknown(is_long ? key : word);
  if (o->given && !o->is_repeated() && !o->is_flag())
    return error(Code::invalid_argument, "{} was given twice", o->name);
  o->given = true;
  if (o->is_flag()) {
    if (equals != std::string::npos || (!is_long && word.size() > 2))
      return error(Code::invalid_argument, "{} takes no value, found '{}'", o->name, escaped(word));
    return store(*o, "");
  }
  if (equals != std::string::npos) return store(*o, std::string_view(word).substr(equals + 1));
  if (!is_long && word.size() > 2) return store(*o, std::string_view(word).substr(2));
  if (at + 1 == words.size())
    return error(Code::invalid_argument, "{} needs a value: {} {}", o->name, o->name, o->value);
  const std::string& next = words[at + 1];
  if (next.starts_with("--") || find(next)) {
    return error(Code::invalid_argument, "{} needs a value, found the option '{}'", o->name, escaped(next))
        .advise(format("If that is the value, write {}={}.", o->name, escaped(next)));
  }
  ++at;
  return store(*o, next);
}

Status Options::take_argument(const std::string& word) {
  for (Option& o : list_) {
    if (!o.is_argument() || (o.given && !o.is_repeated())) continue;
    o.given = true;
    return store(o, word);
  }
  return error(Code::invalid_argument, "'{}' is one word too many", escaped(word));
}

Status Options::parse(std::span<const std::string> words) {
  bool only_arguments = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!only_arguments && word == "--") {
      only_arguments = true;
    } else if (!only_arguments && word.size() > 1 && word[0] == '-') {
      SX_TRY(take_option(words, i));
    } else {
      SX_TRY(take_argument(word));
    }
  }
  return check();
}

Status Options::check() const {
  for (const Option& o : list_) {
    if (o.needed && !o.given) {
      return error(Code::invalid_argument, "{} is missing: {}",
                   o.is_argument() ? o.name : o.name + " " + o.value, o.help);
    }
    for (const std::string& rival : o.rivals) {
      const auto other =
          std::find_if(list_.begin(), list_.end(), [&](const Option& x) { return x.name == rival; });
      if (o.given && other != list_.end() && other->given)
        return error(Code::invalid_argument, "{} and {} exclude each other", rival, o.name);
    }
  }
  return {};
}

Status Options::check_files() const {
  for (const Option& o : list_) {
    if (!o.given || o.takes == Takes::text || o.takes == Takes::new_file || o.takes == Takes::folder)
      continue;
    std::vector<std::string> values;
    if (o.place.kind == Place::Kind::text) values = {*static_cast<const std::string*>(o.place.to)};
    if (o.is_repeated()) values = *static_cast<const std::vector<std::string>*>(o.place.to);
    for (const std::string& v : values) {
      if (v == "-") continue;
      SX_TRY(o.takes == Takes::named_file ? check_named(v)
                                          : check_path(v, o.takes == Takes::model, o.takes == Takes::path));
    }
  }
  return {};
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  // Letters left out, put in, changed or swapped with their neighbour count one each.
  const auto distance = [&](std::string_view b) {
    std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      row[0] = i;
      for (size_t j = 1; j <= b.size(); ++j) {
        row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (word[i - 1] != b[j - 1])});
        if (i > 1 && j > 1 && word[i - 1] == b[j - 2] && word[i - 2] == b[j - 1])
          row[j] = std::min(row[j], before[j - 2] + 1);
      }
      std::swap(before, last);
      std::swap(last, row);
    }
    return last[b.size()];
  };
  std::string best;
  size_t least = std::max<size_t>(2, word.size() / 3 + 1);
  for (const std::string& c : candidates) {
    if (c.size() > word.size() + least || word.size() > c.size() + least || c.size() > 300) continue;
    if (const size_t d = distance(c); d < least) {
      least = d;
      best = c;
    }
  }
  if (!best.empty() || word.size() < 2) return best;
  for (const std::string& c : candidates) {
    if (c.starts_with(word)) return c;
  }
  return best;
}

}  // namespace sx::tools
