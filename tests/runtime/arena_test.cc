// SPDX-License-Identifier: Apache-2.0
// Pieces that live at the same time never lie on each other, and the arena is not much larger than it must
// be.
#include "runtime/arena.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace sx;

namespace {

// Walks the steps with the pieces that live there, sorted by offset; returns the most bytes that live at
// once.
size_t check(const std::vector<Piece>& pieces, size_t total, int steps) {
  std::vector<std::vector<size_t>> at(static_cast<size_t>(steps));
  for (size_t i = 0; i < pieces.size(); ++i) {
    for (int k = pieces[i].first; k <= pieces[i].last; ++k) at[size_t(k)].push_back(i);
  }
  size_t most = 0, overlaps = 0;
  for (auto& living : at) {
    std::sort(living.begin(), living.end(),
              [&](size_t a, size_t b) { return pieces[a].offset < pieces[b].offset; });
    size_t bytes = 0, end = 0;
    for (size_t i : living) {
      overlaps += size_t(pieces[i].offset) < end;
      end = size_t(pieces[i].offset) + pieces[i].bytes;
      bytes += pieces[i].bytes;
    }
    overlaps += end > total;
    most = std::max(most, bytes);
  }
  CHECK(overlaps == 0);
  return most;
}

}  // namespace

TEST_CASE("few and many pieces are packed without overlaps") {
  std::mt19937 random(7);
  for (size_t count : {1, 50, 1000, 6000, 50000}) {
    CAPTURE(count);
    const int steps = int(count);
    std::vector<Piece> pieces(count);
    for (size_t i = 0; i < count; ++i) {
      const int first = int(i);
      pieces[i] = {64 * (1 + random() % 100), first, std::min(steps - 1, first + int(random() % 12)), 0};
    }
    const size_t total = pack(pieces);
    const size_t most = check(pieces, total, steps);
    CHECK(total >= most);
    CHECK(total <= 2 * most);
  }
}

TEST_CASE("pieces that all live at once lie one behind the other") {
  std::vector<Piece> pieces(20000);
  for (size_t i = 0; i < pieces.size(); ++i) pieces[i] = {64, int(i), 20000, 0};
  CHECK(pack(pieces) == 64 * pieces.size());
}
