// SPDX-License-Identifier: Apache-2.0
#include "onnx/python_loop.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/format.h"
#include "onnx/python_fold.h"
#include "onnx/text_lexer.h"

namespace sx::onnx {
namespace {

constexpr char kDigits = '\x03';
constexpr size_t kLineLength = 100;
// Larger numbers follow no formula here: a step times a start stays within 64 bits.
constexpr size_t kLongest = 12;
constexpr int64_t kLargestStart = 100'000;

bool is_text(std::string_view literal) { return !literal.empty() && literal[0] == '"'; }
bool is_whole(std::string_view literal) {
  if (literal.starts_with('-')) literal.remove_prefix(1);
  return !literal.empty() && literal.size() <= kLongest &&
         std::all_of(literal.begin(), literal.end(), is_digit);
}

size_t escape_length(std::string_view text, size_t at) {
  const char kind = at + 1 < text.size() ? text[at + 1] : ' ';
  return kind == 'x' ? 4 : kind == 'u' ? 6 : kind == 'U' ? 10 : 2;
}

std::optional<int64_t> canonical_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || text.size() > kLongest) return {};
  return std::to_string(value) == text ? std::optional(value) : std::nullopt;
}

// The loop's variable: its value in the first iteration, and its step, 1 or -1.
struct Counter {
  int64_t start = 0, step = 1;
  bool used = false;

  std::string expression(Affine a) {
    used = true;
    const int64_t factor = a.step * step;
    const int64_t rest = a.at_zero - factor * start;
    if (factor < 0) return factor == -1 ? format("{} - i", rest) : format("{} - {} * i", rest, -factor);
    const std::string term = factor == 1 ? "i" : format("{} * i", factor);
    return rest == 0 ? term : rest > 0 ? format("{} + {}", term, rest) : format("{} - {}", term, -rest);
  }
};

std::string with_double_braces(std::string_view text) {
  std::string out;
  for (char c : text) {
    out += c;
    if (c == '{' || c == '}') out += c;
  }
  return out;
}

using Values = std::vector<std::string_view>;

// One formula for iterations `first` to the end of `values`, or none.
std::optional<std::string> formula(std::span<const std::string_view> values, int64_t first,
                                   Counter& counter) {
  const bool same =
      std::all_of(values.begin(), values.end(), [&](std::string_view v) { return v == values[0]; });
  if (same) return std::string(values[0]);
  const auto shifted = [&](Affine a) { return Affine{a.at_zero - a.step * first, a.step}; };
  if (std::all_of(values.begin(), values.end(), is_whole)) {
    const auto a = affine_of(values);
    return a ? std::optional(counter.expression(shifted(*a))) : std::nullopt;
  }
  if (!std::all_of(values.begin(), values.end(), is_text)) return {};
  const Skeleton model = skeleton_of(values[0]);
  std::vector<Values> runs(model.digits.size());
  for (std::string_view v : values) {
    const Skeleton s = skeleton_of(v);
    if (s.text != model.text || s.digits.size() != runs.size()) return {};
    for (size_t d = 0; d < runs.size(); ++d) runs[d].push_back(s.digits[d]);
  }
  std::vector<std::string> filled;
  for (const Values& run : runs) {
    if (std::all_of(run.begin(), run.end(), [&](std::string_view v) { return v == run[0]; })) {
      filled.emplace_back(run[0]);
    } else if (const auto a = affine_of(run)) {
      filled.push_back("{" + counter.expression(shifted(*a)) + "}");
    } else {
      return {};
    }
  }
  std::string out = "f";
  size_t next = 0;
  for (char c : model.text) {
    if (c == kDigits) {
      out += filled[next++];
    } else {
      out += with_double_braces({&c, 1});
    }
  }
  return out;
}

// What a loop needs beside its body.
class Loop {
 public:
  Loop(std::span<const Statement> statements, size_t period)
      : statements_(statements), period_(period), count_(statements.size() / period) {}

  std::vector<std::string> lines() {
    choose_counter();
    find_irregular();
    std::vector<std::string> body;
    for (size_t row = 0; row < period_; ++row) body.push_back("    " + statement(row));
    std::vector<std::string> out = header();
    for (const std::string& choice : choices_) out.push_back("    " + choice);
    out.insert(out.end(), body.begin(), body.end());
    return out;
  }

 private:
  struct Variable {
    std::string name;
    Values values;
  };
  size_t holes(size_t row) const { return statements_[row].pieces.size() / 2; }
  template <class F>
  void each_hole(F&& f) {
    for (size_t row = 0; row < period_; ++row) {
      for (size_t h = 0; h < holes(row); ++h) f(hole_values(statements_, period_, row, h));
    }
  }

  // The count that most names follow is the loop's own.
  void choose_counter() {
    std::unordered_map<int64_t, size_t> votes[2];
    size_t most = 0;
    each_hole([&](const Values& values) {
      const std::span<const std::string_view> all(values);
      // The first iteration may be an exception.
      const size_t skip = count_ > 2 ? 1 : 0;
      const Skeleton from = skeleton_of(all[skip]), to = skeleton_of(all[skip + 1]);
      if (from.text != to.text || from.digits.size() != to.digits.size()) return;
      for (size_t d = 0; d < from.digits.size(); ++d) {
        const std::string_view pair[] = {from.digits[d], to.digits[d]};
        const auto a = affine_of(pair);
        if (!a || (a->step != 1 && a->step != -1)) continue;
        const int64_t start = a->at_zero - a->step * int64_t(skip);
        const size_t n = ++votes[a->step > 0][start];
        if (n <= most || start < 0 || start > kLargestStart) continue;
        most = n;
        counter_ = {start, a->step};
      }
    });
  }

  static std::string key_of(const Values& values) {
    std::string key;
    for (std::string_view v : values) key += std::string(v) + kHoleEnd;
    return key;
  }

  // Literals that follow no formula get variables, the shortest first: others may be made of them.
  void find_irregular() {
    std::vector<Values> odd;
    each_hole([&](Values values) {
      Counter trial = counter_;
      if (formula(values, 0, trial)) return;
      if (code_of_.emplace(key_of(values), "").second) odd.push_back(std::move(values));
    });
    const auto length = [](const Values& values) {
      size_t n = 0;
      for (std::string_view v : values) n += v.size();
      return n;
    };
    std::stable_sort(odd.begin(), odd.end(),
                     [&](const Values& a, const Values& b) { return length(a) < length(b); });
    for (Values& values : odd) {
      std::string& code = code_of_[key_of(values)];
      if ((code = derived(values)).empty()) code = define(std::move(values));
    }
  }

  std::string define(Values values) {
    std::string name = variables_.empty() ? "x" : format("x{}", variables_.size() + 1);
    const std::span<const std::string_view> all(values);
    const auto choice = [&](std::string_view odd, size_t at, std::optional<std::string> rest) {
      counter_.used = true;
      choices_.push_back(format("{} = {} if i == {} else {}", name, odd,
                                counter_.start + counter_.step * int64_t(at), *rest));
    };
    Counter trial = counter_;
    if (count_ > 2 && formula(all.subspan(1), 1, trial)) {
      choice(values[0], 0, formula(all.subspan(1), 1, counter_));
    } else if (count_ > 2 && formula(all.first(count_ - 1), 0, trial)) {
      choice(values.back(), count_ - 1, formula(all.first(count_ - 1), 0, counter_));
    } else {
      table_.push_back({name, values});
    }
    variables_.push_back({name, std::move(values)});
    return name;
  }

  // f"…{x}…", if all are made of the values of a variable in the same way.
  std::string derived(const Values& values) const {
    constexpr size_t kTried = 12;
    for (size_t k = 0; k < std::min(variables_.size(), kTried); ++k) {
      const Values& base = variables_[k].values;
      const auto inner = [&](size_t j) { return base[j].substr(1, base[j].size() - 2); };
      if (!is_text(base[0]) || !is_text(values[0]) || base[0].size() < 5) continue;
      const size_t at = values[0].find(inner(0));
      if (at == std::string_view::npos) continue;
      const std::string_view before = values[0].substr(0, at);
      const std::string_view after = values[0].substr(at + inner(0).size());
      bool all = true;
      for (size_t j = 0; j < values.size() && all; ++j) {
        all = is_text(base[j]) && values[j].size() == before.size() + inner(j).size() + after.size() &&
              values[j].starts_with(before) && values[j].ends_with(after) &&
              values[j].substr(before.size(), inner(j).size()) == inner(j);
      }
      if (!all) continue;
      return "f" + with_double_braces(before) + "{" + variables_[k].name + "}" + with_double_braces(after);
    }
    return {};
  }

  std::string statement(size_t row) {
    const Statement& s = statements_[row];
    std::string out(s.pieces[0]);
    for (size_t h = 0; h < holes(row); ++h) {
      const Values values = hole_values(statements_, period_, row, h);
      const auto odd = code_of_.find(key_of(values));
      out += odd != code_of_.end() ? odd->second : *formula(values, 0, counter_);
      out += s.pieces[2 * h + 2];
    }
    return out;
  }

  std::vector<std::string> header() const {
    const int64_t end = counter_.start + counter_.step * int64_t(count_);
    if (table_.empty()) {
      const char* const name = counter_.used ? "i" : "_";
      if (counter_.step < 0) return {format("for {} in range({}, {}, -1):", name, counter_.start, end)};
      if (counter_.start == 0 || !counter_.used) return {format("for {} in range({}):", name, count_)};
      return {format("for {} in range({}, {}):", name, counter_.start, end)};
    }
    std::string names;
    for (const Variable& v : table_) names += (names.empty() ? "" : ", ") + v.name;
    std::vector<std::string> out;
    const std::string row = table_.size() > 1 ? "(" + names + ")" : names;
    std::string close = "]:";
    if (!counter_.used) {
      out.push_back(format("for {} in [", names));
    } else if (counter_.step > 0) {
      out.push_back(format("for i, {} in enumerate([", row));
      close = counter_.start == 0 ? "]):" : format("], {}):", counter_.start);
    } else {
      out.push_back(format("for i, {} in zip(range({}, {}, -1), [", row, counter_.start, end));
      close = "]):";
    }
    rows(out);
    out.push_back(std::move(close));
    return out;
  }
  void rows(std::vector<std::string>& out) const {
    std::string line;
    for (size_t j = 0; j < count_; ++j) {
      std::string row;
      for (const Variable& v : table_) row += (row.empty() ? "" : ", ") + std::string(v.values[j]);
      if (table_.size() > 1) row = "(" + row + ")";
      if (!line.empty() && line.size() + row.size() > kLineLength) {
        out.push_back("    " + line);
        line.clear();
      }
      line += (line.empty() ? "" : " ") + row + ",";
    }
    out.push_back("    " + line);
  }

  std::span<const Statement> statements_;
  size_t period_, count_;
  Counter counter_;
  std::vector<Variable> variables_, table_;
  std::vector<std::string> choices_;
  std::unordered_map<std::string, std::string> code_of_;  // the values of a hole → code
};

}  // namespace

std::string hole(std::string_view literal) { return kHoleBegin + std::string(literal) + kHoleEnd; }

std::string without_holes(std::string_view statement) {
  std::string out;
  out.reserve(statement.size());
  for (char c : statement) {
    if (c != kHoleBegin && c != kHoleEnd) out += c;
  }
  return out;
}

Statement split_statement(std::string_view marked) {
  Statement s{{}, marked};
  size_t from = 0;
  for (size_t i = 0; i < marked.size(); ++i) {
    if (marked[i] != kHoleBegin && marked[i] != kHoleEnd) continue;
    s.pieces.push_back(marked.substr(from, i - from));
    from = i + 1;
  }
  s.pieces.push_back(marked.substr(from));
  return s;
}

Skeleton skeleton_of(std::string_view literal) {
  Skeleton s;
  for (size_t i = 0; i < literal.size();) {
    size_t n = 1;
    if (is_digit(literal[i])) {
      while (i + n < literal.size() && is_digit(literal[i + n])) ++n;
      s.digits.push_back(literal.substr(i, n));
      s.text += kDigits;
    } else {
      if (literal[i] == '\\') n = std::min(escape_length(literal, i), literal.size() - i);
      s.text += literal.substr(i, n);
    }
    i += n;
  }
  return s;
}

std::optional<Affine> affine_of(std::span<const std::string_view> numbers) {
  const auto zero = canonical_number(numbers[0]), one = canonical_number(numbers[1]);
  if (!zero || !one) return {};
  const Affine a{*zero, *one - *zero};
  int64_t next = *one;
  for (size_t j = 2; j < numbers.size(); ++j) {
    if (canonical_number(numbers[j]) != (next += a.step)) return {};
  }
  return a;
}

std::vector<std::string_view> hole_values(std::span<const Statement> statements, size_t period, size_t row,
                                          size_t h) {
  Values values;
  for (size_t at = row; at < statements.size(); at += period)
    values.push_back(statements[at].pieces[2 * h + 1]);
  return values;
}

std::vector<std::string> make_loop(std::span<const Statement> statements, size_t period) {
  return Loop(statements, period).lines();
}

}  // namespace sx::onnx
