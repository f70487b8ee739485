// SPDX-License-Identifier: Apache-2.0
// Where pieces of memory that live between two steps each lie in one arena.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sx {

struct Piece {
  size_t bytes = 0;
  int first = 0, last = 0;  // the steps between which it is needed, both included
  int64_t offset = 0;
};

// Gives each piece an offset at which nothing else lies while it lives; returns the bytes of the whole.
size_t pack(std::vector<Piece>& pieces);

}  // namespace sx
