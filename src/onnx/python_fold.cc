// SPDX-License-Identifier: Apache-2.0
// Where statements repeat. Statements become numbers, equal ones for statements of one shape; stretches in
// which the numbers repeat with some period are found for all periods at once, and the one that promises to
// save the most is tried first. First shapes that keep all but the digits in names, then only the code.
#include "onnx/python_fold.h"

#include <algorithm>
#include <queue>
#include <span>
#include <unordered_map>

#include "onnx/python_loop.h"

namespace sx::onnx {
namespace {

constexpr size_t kLongestPeriod = 2048;
constexpr size_t kMostSteps = 100'000'000;  // of the search for repeats
constexpr size_t kLeastSaved = 150;         // bytes

// Statements from `begin` that repeat with a period.
struct Stretch {
  size_t begin = 0, length = 0, period = 1;
  size_t promise = 0;  // bytes that a loop may save
  bool operator<(const Stretch& o) const { return promise < o.promise; }
  size_t end() const { return begin + length; }
};

struct Accepted {
  size_t begin = 0, end = 0;
  std::vector<std::string> lines;
};

size_t size_of(const std::vector<std::string>& lines) {
  size_t n = 0;
  for (const std::string& line : lines) n += line.size() + 1;
  return n;
}

class Folder {
 public:
  explicit Folder(const std::vector<std::string>& statements) : sources_(statements) {
    for (const std::string& s : statements) statements_.push_back(split_statement(s));
    bytes_before_.push_back(0);
    for (const std::string& s : statements) bytes_before_.push_back(bytes_before_.back() + s.size() + 1);
    taken_.assign(statements.size(), false);
    code_ = shapes(Detail::code);
    work_left_ = 100 * bytes_before_.back() + 100'000;
  }

  std::vector<std::string> run() {
    const std::vector<uint32_t> ways[] = {shapes(Detail::all), shapes(Detail::texts), code_};
    for (const bool strict : {true, false}) {
      strict_ = strict;
      for (const std::vector<uint32_t>& shape : ways) fold(shape);
    }
    std::sort(loops_.begin(), loops_.end(),
              [](const Accepted& a, const Accepted& b) { return a.begin < b.begin; });
    std::vector<std::string> out;
    size_t at = 0;
    for (Accepted& loop : loops_) {
      for (; at < loop.begin; ++at) out.push_back(without_holes(sources_[at]));
      out.insert(out.end(), loop.lines.begin(), loop.lines.end());
      at = loop.end;
    }
    for (; at < sources_.size(); ++at) out.push_back(without_holes(sources_[at]));
    return out;
  }

 private:
  enum class Detail { code, texts, all };
  // A number for each statement: the same for the same code, and the same texts but for their digits, and the
  // same other literals.
  std::vector<uint32_t> shapes(Detail detail) const {
    std::unordered_map<std::string, uint32_t> known;
    std::vector<uint32_t> out;
    for (const Statement& s : statements_) {
      std::string shape;
      for (size_t i = 0; i < s.pieces.size(); ++i) {
        const std::string_view piece = s.pieces[i];
        const bool text = i % 2 == 1 && piece.starts_with('"');
        if (i % 2 == 0 || (!text && detail == Detail::all)) {
          shape += piece;
        } else if (text && detail != Detail::code) {
          shape += skeleton_of(piece).text;
        } else {
          shape += text ? kHoleBegin : kHoleEnd;
        }
      }
      out.push_back(known.emplace(std::move(shape), uint32_t(known.size())).first->second);
    }
    return out;
  }

  size_t bytes(size_t begin, size_t end) const { return bytes_before_[end] - bytes_before_[begin]; }

  void fold(const std::vector<uint32_t>& shape) {
    const size_t n = shape.size();
    const size_t longest = std::min({kLongestPeriod, n / 2, kMostSteps / std::max<size_t>(n, 1)});
    std::priority_queue<Stretch> queue;
    for (size_t period = 1; period <= longest; ++period) {
      size_t run = 0;  // statements up to here that are like the one a period later
      for (size_t i = 0; i + period <= n; ++i) {
        const bool alike =
            i + period < n && shape[i] == shape[i + period] && !taken_[i] && !taken_[i + period];
        if (alike) {
          ++run;
          continue;
        }
        if (run >= period) add(queue, i - run, run + period, period);
        run = 0;
      }
    }
    while (!queue.empty()) {
      const Stretch s = queue.top();
      queue.pop();
      if (add_free_parts(queue, s)) continue;
      consider(s);
    }
  }

  void add(std::priority_queue<Stretch>& queue, size_t begin, size_t length, size_t period) const {
    if (length < 2 * period) return;
    const size_t promise = bytes(begin, begin + length) - bytes(begin, begin + period);
    if (promise > kLeastSaved) queue.push({begin, length, period, promise});
  }

  // If a part of the stretch is taken by now: what is left of it goes back into the queue.
  bool add_free_parts(std::priority_queue<Stretch>& queue, const Stretch& s) const {
    const auto begin = taken_.begin() + ptrdiff_t(s.begin), end = begin + ptrdiff_t(s.length);
    if (std::find(begin, end, true) == end) return false;
    for (auto at = begin; at != end;) {
      const auto from = std::find(at, end, false);
      at = std::find(from, end, true);
      add(queue, size_t(from - taken_.begin()), size_t(at - from), s.period);
    }
    return true;
  }

  std::span<const Statement> part(size_t begin, size_t end) const {
    return std::span(statements_).subspan(begin, end - begin);
  }

  void consider(const Stretch& s) {
    if (bytes(s.begin, s.end()) > work_left_) return;
    work_left_ -= bytes(s.begin, s.end());
    const size_t begin = s.begin + best_phase(s);
    for (const Range& r : regular_ranges(begin, s.period, (s.end() - begin) / s.period)) {
      try_loop({begin + r.first * s.period, (r.last - r.first) * s.period, s.period, 0});
    }
  }

  void try_loop(Stretch s) {
    const auto begin = taken_.begin() + ptrdiff_t(s.begin);
    if (std::find(begin, begin + ptrdiff_t(s.length), true) != begin + ptrdiff_t(s.length)) return;
    std::vector<std::string> lines = make_loop(part(s.begin, s.end()), s.period);
    while (widen(s, lines, true) || widen(s, lines, false)) continue;
    const size_t was = bytes(s.begin, s.end()), now = size_of(lines);
    const size_t fewer = s.length == 2 * s.period ? 12 : 2;  // of two iterations, only long ones
    const size_t most = strict_ ? was * 2 / 5 : was * 3 / 4;
    const bool worth = now + kLeastSaved < was && now < most && lines.size() + fewer <= s.length;
    if (!worth) return;
    std::fill_n(taken_.begin() + ptrdiff_t(s.begin), s.length, true);
    loops_.push_back({s.begin, s.end(), std::move(lines)});
  }

  // One more iteration before or after, if its code is the same and the loop with it is shorter.
  bool widen(Stretch& s, std::vector<std::string>& lines, bool before) {
    const size_t p = s.period;
    if (before ? s.begin < p : s.end() + p > statements_.size()) return false;
    const size_t from = before ? s.begin - p : s.end();
    for (size_t r = 0; r < p; ++r) {
      if (taken_[from + r] || code_[from + r] != code_[s.begin + r]) return false;
    }
    const size_t begin = std::min(from, s.begin);
    if (bytes(begin, begin + s.length + p) > work_left_) return false;
    work_left_ -= bytes(begin, begin + s.length + p);
    std::vector<std::string> wider = make_loop(part(begin, begin + s.length + p), p);
    if (size_of(wider) >= size_of(lines) + bytes(from, from + p) / 2) return false;
    lines = std::move(wider);
    s.begin = begin;
    s.length += p;
    return true;
  }

  // Where in its first period a loop begins best: where most names count from the same number.
  size_t best_phase(const Stretch& s) const {
    const size_t spare = s.length % s.period;
    std::unordered_map<int64_t, size_t> votes;
    std::vector<std::vector<int64_t>> starts(s.period);
    for (size_t r = 0; r < s.period; ++r) {
      starts[r] = counts_from(s.begin + r, s.period);
      for (int64_t start : starts[r]) ++votes[start];
    }
    size_t best = 0, most = 0;
    for (size_t phase = 0; phase <= spare; ++phase) {
      for (const auto& [start, n] : votes) {
        if (n > most) best = phase, most = n;
      }
      if (phase == spare) break;
      for (int64_t start : starts[phase]) {
        --votes[start];
        ++votes[start + 1];
      }
    }
    return best;
  }

  // The numbers in the names of a statement that are one larger a period later; a few of them.
  std::vector<int64_t> counts_from(size_t at, size_t period) const {
    constexpr size_t kFew = 4;
    std::vector<int64_t> out;
    const Statement &a = statements_[at], &b = statements_[at + period];
    for (size_t i = 1; i < a.pieces.size() && out.size() < kFew; i += 2) {
      const Skeleton from = skeleton_of(a.pieces[i]), to = skeleton_of(b.pieces[i]);
      for (size_t d = 0; d < std::min(from.digits.size(), to.digits.size()) && out.size() < kFew; ++d) {
        const std::string_view pair[] = {from.digits[d], to.digits[d]};
        if (const auto affine = affine_of(pair); affine && affine->step == 1) out.push_back(affine->at_zero);
      }
    }
    return out;
  }

  struct Range {
    size_t first, last;  // iterations, without the last
  };
  // The stretches of iterations in which what changes does so evenly, with few exceptions; the longest first.
  std::vector<Range> regular_ranges(size_t begin, size_t period, size_t count) const {
    std::vector<size_t> breaks(count, 0);
    size_t varying = 0;
    const auto all = part(begin, begin + period * count);
    for (size_t r = 0; r < period; ++r) {
      for (size_t h = 0; h < all[r].pieces.size() / 2; ++h) {
        const std::vector<std::string_view> values = hole_values(all, period, r, h);
        if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end()) continue;
        ++varying;
        add_breaks(values, breaks);
      }
    }
    std::vector<Range> ranges;
    size_t first = 0;
    for (size_t j = 1; j < count; ++j) {
      const bool broken = breaks[j] * 3 > varying;
      if (broken || j + 1 == count) ranges.push_back({first, j + 1});
      if (broken) first = j;
    }
    // Neighbours share the iteration at which they break: the longer one gets it.
    std::stable_sort(ranges.begin(), ranges.end(),
                     [](const Range& a, const Range& b) { return a.last - a.first > b.last - b.first; });
    std::vector<bool> used(count, false);
    for (Range& r : ranges) {
      if (used[r.first]) ++r.first;
      if (used[r.last - 1]) --r.last;
      std::fill(used.begin() + ptrdiff_t(r.first), used.begin() + ptrdiff_t(std::max(r.first, r.last)), true);
    }
    std::erase_if(ranges, [](const Range& r) { return r.last < r.first + 2; });
    return ranges;
  }

  // Counts at j where the step from j to j + 1 is another one than that from j - 1 to j.
  static void add_breaks(const std::vector<std::string_view>& values, std::vector<size_t>& breaks) {
    std::vector<Skeleton> s;
    s.reserve(values.size());
    for (std::string_view v : values) s.push_back(skeleton_of(v));
    for (size_t j = 1; j + 1 < values.size(); ++j) {
      if (values[j - 1] == values[j] && values[j] == values[j + 1]) continue;
      bool even = s[j - 1].text == s[j].text && s[j].text == s[j + 1].text;
      for (size_t d = 0; even && d < s[j].digits.size(); ++d) {
        const std::string_view three[] = {s[j - 1].digits[d], s[j].digits[d], s[j + 1].digits[d]};
        even = (three[0] == three[1] && three[1] == three[2]) || affine_of(three).has_value();
      }
      breaks[j] += even ? 0 : 1;
    }
  }

  const std::vector<std::string>& sources_;
  std::vector<Statement> statements_;
  std::vector<size_t> bytes_before_;
  std::vector<bool> taken_;
  std::vector<uint32_t> code_;
  std::vector<Accepted> loops_;
  bool strict_ = true;    // only loops that save most of the text
  size_t work_left_ = 0;  // bytes that loops may still be tried on
};

}  // namespace

std::vector<std::string> fold_statements(const std::vector<std::string>& statements) {
  return Folder(statements).run();
}

}  // namespace sx::onnx
