// SPDX-License-Identifier: Apache-2.0
// One loop in place of statements that repeat: what changes from one iteration to the next becomes a formula
// of the loop's variable, a choice for the first or last iteration, or a column of a table. Internal to
// src/onnx.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sx::onnx {

// A statement in pieces: pieces 0, 2, 4 … are code, the others the literals of its holes.
struct Statement {
  std::vector<std::string_view> pieces;
  std::string_view source;
};
Statement split_statement(std::string_view marked);

// Text with each run of digits as one mark, escapes left whole, and the runs.
struct Skeleton {
  std::string text;
  std::vector<std::string_view> digits;
};
Skeleton skeleton_of(std::string_view literal);

// a + b·j for iteration j.
struct Affine {
  int64_t at_zero = 0, step = 0;
  bool operator==(const Affine&) const = default;
};
std::optional<Affine> affine_of(std::span<const std::string_view> numbers);

// The literal of hole `h` of statement `row` of a body of `period` statements, for each iteration.
std::vector<std::string_view> hole_values(std::span<const Statement> statements, size_t period, size_t row,
                                          size_t h);

// The lines of a loop that does what `statements` do: iterations of `period` statements whose code agrees.
std::vector<std::string> make_loop(std::span<const Statement> statements, size_t period);

}  // namespace sx::onnx
