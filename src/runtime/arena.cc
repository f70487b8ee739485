// SPDX-License-Identifier: Apache-2.0
#include "runtime/arena.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>

namespace sx {
namespace {

// Comparing all pieces with each other packs tighter, and takes the square of their number.
constexpr size_t kMostCompared = 4096;

// Largest first, each at the lowest offset that is free while it lives.
size_t pack_by_size(std::vector<Piece>& pieces) {
  std::vector<size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return pieces[a].bytes > pieces[b].bytes; });
  std::vector<size_t> placed;  // sorted by offset
  size_t total = 0;
  for (size_t i : order) {
    Piece& piece = pieces[i];
    int64_t at = 0;
    for (size_t other : placed) {
      const Piece& p = pieces[other];
      if (p.last < piece.first || p.first > piece.last) continue;
      if (p.offset >= at + int64_t(piece.bytes)) break;
      at = std::max(at, p.offset + int64_t(p.bytes));
    }
    piece.offset = at;
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) { return pieces[a].offset < pieces[b].offset; }),
                  i);
    total = std::max(total, size_t(at) + piece.bytes);
  }
  return total;
}

// Memory that is handed out and taken back: the smallest gap that fits, or more at the end.
class Gaps {
 public:
  int64_t take(size_t bytes) {
    auto fit = by_size_.lower_bound({bytes, 0});
    if (fit == by_size_.end()) return grow(bytes);
    const auto [size, at] = *fit;
    remove(at, size);
    if (size > bytes) add(at + int64_t(bytes), size - bytes);
    return at;
  }
  void give(int64_t at, size_t bytes) {
    auto behind = by_offset_.lower_bound(at);
    if (behind != by_offset_.end() && behind->first == at + int64_t(bytes)) {
      bytes += behind->second;
      remove(behind->first, behind->second);
    }
    auto before = by_offset_.lower_bound(at);
    if (before != by_offset_.begin() && (--before)->first + int64_t(before->second) == at) {
      at = before->first;
      bytes += before->second;
      remove(before->first, before->second);
    }
    add(at, bytes);
  }
  size_t total() const { return total_; }

 private:
  int64_t grow(size_t bytes) {
    int64_t at = int64_t(total_);
    if (!by_offset_.empty() && by_offset_.rbegin()->first + int64_t(by_offset_.rbegin()->second) == at) {
      at = by_offset_.rbegin()->first;
      remove(at, by_offset_.rbegin()->second);
    }
    total_ = size_t(at) + bytes;
    return at;
  }
  void add(int64_t at, size_t bytes) {
    by_offset_[at] = bytes;
    by_size_.insert({bytes, at});
  }
  void remove(int64_t at, size_t bytes) {
    by_offset_.erase(at);
    by_size_.erase({bytes, at});
  }

  std::map<int64_t, size_t> by_offset_;
  std::set<std::pair<size_t, int64_t>> by_size_;
  size_t total_ = 0;
};

// In the order in which they are needed, as a run would allocate them.
size_t pack_by_time(std::vector<Piece>& pieces) {
  std::vector<size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return pieces[a].first < pieces[b].first; });
  Gaps gaps;
  using Ending = std::pair<int, size_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> living;
  for (size_t i : order) {
    while (!living.empty() && living.top().first < pieces[i].first) {
      const Piece& gone = pieces[living.top().second];
      living.pop();
      gaps.give(gone.offset, gone.bytes);
    }
    pieces[i].offset = gaps.take(pieces[i].bytes);
    living.push({pieces[i].last, i});
  }
  return gaps.total();
}

}  // namespace

size_t pack(std::vector<Piece>& pieces) {
  return pieces.size() <= kMostCompared ? pack_by_size(pieces) : pack_by_time(pieces);
}

}  // namespace sx
